# Two commands are all the set-up: make run, make test. Both install or name what is missing, start a
# PostgreSQL of their own, and leave nothing running.
.DEFAULT_GOAL := help
.PHONY: help run test test-long simulate storm check fmt sqlx openapi docs-tables replay doctor

help: ## what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## the sandbox on PORT (8080), with its data in DATA (.keyrack); Ctrl-C ends it
	@PORT='$(PORT)' DATA='$(DATA)' .ci/sandbox

test: ## all tests, against a PostgreSQL of their own
	@.ci/test

test-long: ## the tests that also have a long form, in that: ten minutes
	@KEYRACK_TEST_LONG=1 .ci/test random

simulate: ## the simulation, history after history for an hour; SEED=7 begins with that one
	@KEYRACK_TEST_LONG=1 $(if $(SEED),KEYRACK_TEST_SEED='$(SEED)') .ci/test every_answer_is_one

storm: ## ten thousand bookings against a provider that loses and repeats, on a program that dies
	@KEYRACK_TEST_LONG=1 .ci/test money_ends_well

check: ## format, lints, queries, docs
	@.ci/check

fmt: ## format the code
	cargo fmt --all

sqlx: ## write .sqlx anew, after a change of a query or a migration
	@.ci/sqlx

openapi: ## write docs/openapi.json anew, after a change of the API
	UPDATE_OPENAPI=1 cargo test --quiet -p keyrack-api --test it the_committed_document

docs-tables: ## write the tables in docs/ that come from the code
	KEYRACK_WRITE_DOCS=1 cargo test --quiet --workspace --test it the_page_of_

replay: ## all 119,390 real bookings through the API of a sandbox of its own; ARGS="--rows 2000"
	@.ci/replay $(ARGS)

doctor: ## what is wrong with this machine or installation
	@cargo run --quiet -p keyrack -- doctor

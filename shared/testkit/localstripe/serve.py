"""localstripe for one test: on a port of its own, in memory, and gone with its caller.

Prints its port, and ends when its standard input does, however the test ended.

localstripe is a Stripe server that others wrote (GPL; a program of its own that only tests run). What
Stripe documents, the adapter relies on, and localstripe leaves out stands in front of it here, and
nothing else:

- a key that was used is answered as the first time, and refused with other parameters
- the list of intents is newest first, and takes a range of `created`
- an intent tells what can be captured and what was
- what is not waiting for a capture is not captured
- a customer who must act is sent to a page, where there is an address to return to
- a charge has its intent's metadata and tells what was captured; a refund names its intent
- what moves is listed under its name of today, newest first, in a range of `created`, also backwards

And what tests ask for: calls are counted, and some are held, lost or declined, by their payment method.
"""

import asyncio
import json
import sys

from aiohttp import web
from localstripe import server
from localstripe.resources import (
    BalanceTransaction, Charge, List, PaymentIntent, PaymentMethod, Refund, Store, store,
)

# To localstripe each of them is a good card.
WISHES = {
    "pm_silence": "the create never arrives",
    "pm_lost_answer": "the capture happens, and its answer is lost",
    "pm_slow_capture": "the capture waits until it is released",
    "pm_capture_declined": "the capture is declined",
}

# Its customer is asked first.
ASKING = "pm_card_authenticationRequired"

calls = {}  # how many came under a reference of ours
held = {}  # how many of them have waited
gates = {}  # a reference -> the event that lets its calls go on
methods = {}  # an attempt -> the payment method of its create
keys = {}  # a key -> its first call, and the answer once there is one
changed = asyncio.Condition()


# What localstripe leaves out of its objects.


def capturable(intent):
    return intent.amount if intent.status == "requires_capture" else 0


def received(intent):
    return intent.amount if intent.status == "succeeded" else 0


@classmethod
def newest_first(cls, url, limit=None, starting_after=None, created=None):
    answer = List(url, limit=limit, starting_after=starting_after)
    bounds = created or {}
    least, most = int(bounds.get("gte", 0)), int(bounds.get("lte", 2**62))
    everything = [thing for key, thing in store.items() if key.startswith(cls.object + ":")]
    answer._list = [thing for thing in reversed(everything) if least <= thing.created <= most]
    return answer


def captured(charge):
    return charge.amount if charge.captured else 0


created_intent = PaymentIntent._api_create.__func__
created_charge = PaymentIntent._create_charge
created_refund = Refund.__init__


@classmethod
def with_a_place_to_return_to(cls, return_url=None, **data):
    intent = created_intent(cls, **data)
    if intent.next_action and return_url:
        page = {"url": f"https://hooks.stripe.com/{intent.id}", "return_url": return_url}
        intent.next_action = {"type": "redirect_to_url", "redirect_to_url": page}
    return intent


def with_the_metadata(intent, on_failure_now):
    try:
        created_charge(intent, on_failure_now)
    finally:
        if intent.latest_charge is not None:
            intent.latest_charge.metadata = dict(intent.metadata)


def with_the_intent(refund, *args, **data):
    created_refund(refund, *args, **data)
    refund.payment_intent = Charge._api_retrieve(refund.charge).payment_intent


canonical = PaymentMethod._try_get_canonical_test_article


@classmethod
def canonical_or_wished(_, method):
    if method == ASKING:
        card = {"number": "4000002760003184", "exp_month": "12", "exp_year": "2030", "cvc": "123"}
        return PaymentMethod(type="card", card=card)
    return canonical("pm_card_visa" if method in WISHES else method)


PaymentIntent.amount_capturable = property(capturable)
PaymentIntent.amount_received = property(received)
PaymentIntent._api_list_all = newest_first
PaymentIntent._api_create = with_a_place_to_return_to
PaymentIntent._create_charge = with_the_metadata
Charge.amount_captured = property(captured)
Refund.__init__ = with_the_intent
PaymentMethod._try_get_canonical_test_article = canonical_or_wished
# It would write every change to one file of the machine.
Store.dump_to_disk = lambda _: None


async def transactions(request):
    query = server.unflatten_data(request.query)
    bounds, limit = query.get("created", {}), int(query.get("limit", 10))
    least, most = int(bounds.get("gte", 0)), int(bounds.get("lte", 2**62))
    everything = [thing for key, thing in store.items() if key.startswith("balance_transaction:")]
    ids = [thing.id for thing in everything]
    backwards = "ending_before" in query
    if backwards:
        everything = everything[ids.index(query["ending_before"]) + 1 :]
    elif "starting_after" in query:
        everything = everything[: ids.index(query["starting_after"])]
    everything = [thing for thing in everything if least <= thing.created <= most]
    page = everything[:limit] if backwards else everything[-limit:]
    answer = List("/v1/balance_transactions", limit=limit)
    answer._list = list(reversed(page))
    said = answer._export(expand=query.get("expand"))
    said["has_more"] = len(everything) > limit
    return web.json_response(said)


# What stands in front of its routes, from the outside in.


def refusal(status, **words):
    return web.json_response({"error": words}, status=status)


async def came(counts, reference):
    async with changed:
        counts[reference] = counts.get(reference, 0) + 1
        changed.notify_all()


async def hold(reference):
    await came(held, reference)
    await gates.setdefault(reference, asyncio.Event()).wait()


async def create(request, handler):
    form = await request.post()
    method = form.get("payment_method")
    if method is not None:
        attempt = form["metadata[keyrack_attempt]"]
        methods[attempt] = method
        await came(calls, f"{attempt}-auth")
        if method == "pm_silence":
            await hold(f"{attempt}-auth")
    return await handler(request)


async def capture(request, handler):
    intent = store["payment_intent:" + request.path.split("/")[3]]
    attempt = intent.metadata["keyrack_attempt"]
    method, reference = methods.get(attempt), f"{attempt}-capture"
    await came(calls, reference)
    if method == "pm_slow_capture":
        await hold(reference)
    if method == "pm_capture_declined":
        return refusal(402, type="card_error", code="card_declined", decline_code="do_not_honor")
    if intent.status != "requires_capture":
        return refusal(400, type="invalid_request_error", code="payment_intent_unexpected_state")
    answer = await handler(request)
    if method == "pm_lost_answer":
        request.transport.abort()
    return answer


@web.middleware
async def steered(request, handler):
    if request.method == "POST" and request.path == "/v1/payment_intents":
        return await create(request, handler)
    if request.method == "POST" and request.path.endswith("/capture"):
        return await capture(request, handler)
    return await handler(request)


@web.middleware
async def answered_once(request, handler):
    key = request.headers.get("Idempotency-Key")
    if key is None:
        return await handler(request)
    call = (request.path, await request.read())
    first, answer = keys.setdefault(key, (call, None))
    if first is not call:
        if first != call:
            return refusal(400, type="idempotency_error")
        if answer is None:
            return refusal(409, type="invalid_request_error", code="idempotency_key_in_use")
        status, body = answer
        replayed = {"Idempotent-Replayed": "true"}
        return web.Response(status=status, body=body, content_type="application/json", headers=replayed)
    try:
        answer = await handler(request)
    except BaseException:
        del keys[key]
        raise
    keys[key] = (call, (answer.status, answer.body))
    return answer


# What a test asks.


async def count(request):
    return web.json_response({"calls": calls.get(request.match_info["reference"], 0)})


async def until_held(request):
    reference, wanted = request.match_info["reference"], int(request.query["calls"])
    async with changed:
        await changed.wait_for(lambda: held.get(reference, 0) >= wanted)
    return web.json_response({})


async def release(request):
    """Answers once the capture has happened."""
    reference = request.match_info["reference"]
    attempt = reference.removesuffix("-capture")
    intents = [thing for key, thing in store.items() if key.startswith("payment_intent:")]
    intent = next(intent for intent in intents if intent.metadata["keyrack_attempt"] == attempt)
    gates.setdefault(reference, asyncio.Event()).set()
    while intent.status == "requires_capture":
        await asyncio.sleep(0)
    return web.json_response({})


async def until_input_ends():
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    await reader.read()


async def main():
    refused = server.error_middleware
    front = web.Application(middlewares=[refused, server.auth_middleware, steered, answered_once, refused])
    front.router.add_get("/_config/calls/{reference}", count)
    front.router.add_get("/_config/held/{reference}", until_held)
    front.router.add_post("/_config/release/{reference}", release)
    front.router.add_get("/v1/balance_transactions", transactions)
    for route in server.app.router.routes():
        if route.method != "HEAD":
            front.router.add_route(route.method, route.resource.canonical, route.handler)
    runner = web.AppRunner(front, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(json.dumps({"port": runner.addresses[0][1]}), flush=True)
    await until_input_ends()


asyncio.run(main())

//! The migrations are compiled in; a new file among them must compile this crate anew.

fn main() {
    println!("cargo:rerun-if-changed=../../migrations");
}

use std::{
    future::{Ready, ready},
    sync::Arc,
};

use async_trait::async_trait;
use keyrack_messaging::{Broker, Handler, InProcess, conformance::World};

struct Here(InProcess);

#[async_trait]
impl World for Here {
    fn broker(&self) -> &dyn Broker {
        &self.0
    }

    async fn settle(&self) {}
}

fn world(handlers: Vec<Arc<dyn Handler>>) -> Ready<Option<Here>> {
    ready(Some(Here(InProcess::new(handlers))))
}

keyrack_messaging::broker_conformance!(world);

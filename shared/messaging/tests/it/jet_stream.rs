use std::sync::Arc;

use async_trait::async_trait;
use keyrack_messaging::{
    Broker, Handler, JetStream, JetStreamSettings,
    conformance::{Witness, World, message},
};
use keyrack_testkit::NatsServer;

struct Apart {
    server: NatsServer,
    broker: JetStream,
    handlers: Vec<Arc<dyn Handler>>,
}

#[async_trait]
impl World for Apart {
    fn broker(&self) -> &dyn Broker {
        &self.broker
    }

    async fn settle(&self) {
        for handler in &self.handlers {
            // One that cannot act says so, and its messages stay.
            while self.broker.deliver(handler.as_ref()).await.is_ok_and(|handed| handed > 0) {}
        }
    }
}

fn settings(server: &NatsServer) -> JetStreamSettings {
    JetStreamSettings { url: server.url().into(), stream: "keyrack".into(), most_bytes: 64 << 20 }
}

async fn connect(server: &NatsServer, handlers: &[Arc<dyn Handler>]) -> JetStream {
    let names: Vec<_> = handlers.iter().map(|handler| handler.name()).collect();
    JetStream::connect(&settings(server), &names).await.expect("connects")
}

async fn world(handlers: Vec<Arc<dyn Handler>>) -> Option<Apart> {
    let server = NatsServer::start()?;
    let broker = connect(&server, &handlers).await;
    Some(Apart { server, broker, handlers })
}

keyrack_messaging::broker_conformance!(world);

#[tokio::test]
async fn what_was_published_outlives_the_server() {
    let witness = Arc::new(Witness::new("first"));
    let Some(mut world) = world(vec![witness.clone()]).await else { return };
    world.broker.publish(&[message(204, 1), message(204, 2)]).await.expect("published");
    world.server.kill_and_start_again();
    // Another process, as after its own death.
    world.broker = connect(&world.server, &world.handlers).await;
    world.settle().await;
    assert_eq!(witness.numbers(), [1, 2]);
}

#[tokio::test]
async fn a_server_that_is_gone_is_told_and_nothing_is_called_published() {
    let Some(mut world) = world(vec![Arc::new(Witness::new("first"))]).await else { return };
    world.server.kill();
    assert!(world.broker.publish(&[message(204, 1)]).await.is_err());
    assert!(JetStream::connect(&settings(&world.server), &["first"]).await.is_err());
}

#[tokio::test]
async fn a_full_stream_refuses_and_loses_nothing_that_it_took() {
    let Some(server) = NatsServer::start() else { return };
    let witness = Arc::new(Witness::new("first"));
    let small = JetStreamSettings { most_bytes: 20_000, ..settings(&server) };
    let broker = JetStream::connect(&small, &["first"]).await.expect("connects");
    let mut taken = 0;
    while taken < 1_000 && broker.publish(&[message(204, taken)]).await.is_ok() {
        taken += 1;
    }
    assert!((10..1_000).contains(&taken), "{taken}");
    while broker.deliver(witness.as_ref()).await.expect("delivers") > 0 {}
    assert_eq!(witness.numbers(), (0..taken).collect::<Vec<_>>());
    broker.publish(&[message(204, taken)]).await.expect("there is room again");
}

#[tokio::test]
async fn who_dies_before_it_acknowledges_leaves_the_messages_to_others() {
    let (dies, lives) = (Arc::new(Witness::new("first")), Arc::new(Witness::new("first")));
    let Some(world) = world(vec![dies.clone()]).await else { return };
    world.broker.publish(&[message(204, 1)]).await.expect("published");
    dies.fail_next(1);
    assert!(world.broker.deliver(dies.as_ref()).await.is_err());
    assert_eq!(world.broker.deliver(lives.as_ref()).await.expect("delivers"), 1);
    assert_eq!(lives.numbers(), [1]);
}

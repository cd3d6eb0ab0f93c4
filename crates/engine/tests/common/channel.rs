//! A channel that keeps what it is given, refuses whom it is told to refuse, and can be held.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use effectgate_engine::notify::{Channel, Message};
use tokio::sync::{Semaphore, watch};

/// Mail or chat in a test's hand.
#[derive(Clone)]
pub struct Kept {
    got: Arc<Mutex<Vec<(String, Message)>>>,
    refuses: Arc<Mutex<BTreeSet<String>>>,
    /// A delivery takes a permit; none are left while it is held.
    open: Arc<Semaphore>,
    count: watch::Sender<usize>,
    /// Deliveries that began, held or not.
    begun: watch::Sender<usize>,
}

impl Default for Kept {
    fn default() -> Self {
        let open = Arc::new(Semaphore::new(Semaphore::MAX_PERMITS));
        Self {
            got: Arc::default(),
            refuses: Arc::default(),
            open,
            count: watch::Sender::new(0),
            begun: watch::Sender::new(0),
        }
    }
}

impl Kept {
    /// A channel that answers nothing.
    pub fn held() -> Self {
        Self { open: Arc::new(Semaphore::new(0)), ..Self::default() }
    }

    pub fn release(&self) {
        self.open.add_permits(1_000);
    }

    /// From now on these addresses are refused; `*` is everybody.
    pub fn refuse(&self, addresses: &[&str]) {
        *self.refuses.lock().unwrap() = addresses.iter().map(|a| (*a).to_owned()).collect();
    }

    pub fn got(&self) -> Vec<(String, Message)> {
        self.got.lock().unwrap().clone()
    }

    /// What went to this address, oldest first.
    pub fn to(&self, address: &str) -> Vec<Message> {
        self.got().into_iter().filter(|(to, _)| to == address).map(|(_, message)| message).collect()
    }

    /// Waits until so many deliveries began.
    pub async fn until_begun(&self, n: usize) {
        self.begun.subscribe().wait_for(|begun| *begun >= n).await.unwrap();
    }

    /// Waits until so many were delivered.
    pub async fn until(&self, n: usize) {
        self.count.subscribe().wait_for(|count| *count >= n).await.unwrap();
    }
}

#[async_trait]
impl Channel for Kept {
    async fn deliver(&self, to: &str, message: &Message) -> Result<(), String> {
        self.begun.send_modify(|n| *n += 1);
        let _turn = self.open.acquire().await.unwrap();
        let refuses = self.refuses.lock().unwrap().clone();
        if refuses.contains(to) || refuses.contains("*") {
            return Err("the other side answered 550".into());
        }
        self.got.lock().unwrap().push((to.to_owned(), message.clone()));
        self.count.send_modify(|n| *n += 1);
        Ok(())
    }
}

//! What a provider calls our calls, kept beside the hotel's attempts.

use async_trait::async_trait;
use keyrack_db::{Database, DbError};
use keyrack_domain::{ids::HotelId, notice::ProviderName};
use keyrack_payments::{ProviderId, ProviderIds, Reference};
use keyrack_store::provider_ids;

use crate::{
    Fault,
    hotel_directory::{HotelDirectory, NoHotel},
};

#[derive(Debug, Clone)]
pub struct StoredIds {
    hotels: HotelDirectory,
    /// Ids of several providers are apart.
    provider: ProviderName,
}

impl StoredIds {
    pub const fn new(hotels: HotelDirectory, provider: ProviderName) -> Self {
        Self { hotels, provider }
    }

    async fn database(&self, hotel: HotelId) -> Result<&Database, NoHotel> {
        let hotel = self.hotels.by_id(hotel).await?;
        Ok(self.hotels.database(&hotel)?)
    }

    /// `false`: another id is there.
    async fn write(&self, reference: Reference, id: &ProviderId) -> Result<bool, NoHotel> {
        let (hotel, provider) = (reference.attempt().hotel(), self.provider.clone());
        let (name, kept) = (reference.to_string(), id.clone());
        let database = self.database(hotel).await?;
        let first: bool = database
            .transaction("keep_provider_id", move |connection| {
                let (provider, name, kept) = (provider.clone(), name.clone(), kept.clone());
                Box::pin(async move {
                    provider_ids::keep(connection, hotel, provider.as_str(), &name, kept.as_str()).await
                })
            })
            .await
            .map_err(|error: DbError| Fault::from(error))?;
        Ok(first || self.read(reference).await?.as_ref() == Some(id))
    }

    async fn read(&self, reference: Reference) -> Result<Option<ProviderId>, NoHotel> {
        let hotel = reference.attempt().hotel();
        let database = self.database(hotel).await?;
        let mut connection = database.connection().await.map_err(Fault::from)?;
        let found =
            provider_ids::find(&mut connection, hotel, self.provider.as_str(), &reference.to_string()).await;
        let parse = |id: String| id.parse().map_err(|error| DbError::unreadable("provider's id", &error));
        Ok(found.map_err(Fault::from)?.map(parse).transpose().map_err(Fault::from)?)
    }

    async fn search(&self, id: &ProviderId) -> Result<Option<Reference>, Fault> {
        for (_, shard) in self.hotels.shards().all() {
            let mut connection = shard.connection().await?;
            let found =
                provider_ids::reference_of(&mut connection, self.provider.as_str(), id.as_str()).await?;
            if let Some(name) = found {
                let unreadable = |error| DbError::unreadable("reference of a provider's id", &error);
                return Ok(Some(name.parse().map_err(unreadable)?));
            }
        }
        Ok(None)
    }
}

#[async_trait]
impl ProviderIds for StoredIds {
    async fn keep(&self, reference: Reference, id: &ProviderId) {
        match self.write(reference, id).await {
            Ok(true) => {}
            Ok(false) => tracing::error!(%reference, %id, "a reference has two ids at the provider"),
            Err(error) => {
                tracing::warn!(%reference, %error, "the provider's id is not kept; it is searched for when needed");
            }
        }
    }

    async fn find(&self, reference: Reference) -> Option<ProviderId> {
        self.read(reference).await.unwrap_or_else(|error| {
            tracing::warn!(%reference, %error, "the provider's id is not known; it is searched for");
            None
        })
    }

    async fn reference_of(&self, id: &ProviderId) -> Option<Reference> {
        self.search(id).await.unwrap_or_else(|error| {
            tracing::warn!(%id, %error, "what the provider's id stands for is not known");
            None
        })
    }
}

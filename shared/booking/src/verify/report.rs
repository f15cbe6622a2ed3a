//! What `verify` found, for a person and for a script.

use std::fmt;

use keyrack_domain::{
    code::HotelCode,
    ids::{HoldId, ShardId},
};
use keyrack_store::verify::{Invariant, Violation, Violations};

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    pub hotels: Vec<HotelReport>,
    /// Why the directory could not tell all hotels, if it could not.
    pub directory: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HotelReport {
    pub code: HotelCode,
    pub shard: ShardId,
    pub finding: Finding,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Finding {
    /// The directory names it and its shard does not have it: a creation that has not ended.
    Absent,
    Asked {
        /// Of every invariant, in their order.
        standings: Vec<(Invariant, Standing)>,
        /// Holds that the expiry passes over until they are repaired. No violation by itself.
        marked: Vec<HoldId>,
    },
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Standing {
    Checked(Violations),
    /// With the reason.
    NotChecked(String),
    /// Its part does not exist, so there is nothing to check.
    NotInThisRelease,
}

impl HotelReport {
    fn standings(&self) -> &[(Invariant, Standing)] {
        match &self.finding {
            Finding::Absent => &[],
            Finding::Asked { standings, .. } => standings,
        }
    }

    pub fn violations(&self) -> i64 {
        let total = |(_, standing): &(Invariant, Standing)| match standing {
            Standing::Checked(violations) => violations.total,
            Standing::NotChecked(_) | Standing::NotInThisRelease => 0,
        };
        self.standings().iter().map(total).sum()
    }

    pub fn is_checked(&self) -> bool {
        !self.standings().iter().any(|(_, standing)| matches!(standing, Standing::NotChecked(_)))
    }
}

impl Report {
    pub fn violations(&self) -> i64 {
        self.hotels.iter().map(HotelReport::violations).sum()
    }

    /// Those that are told, each with its hotel and invariant.
    pub fn told(&self) -> impl Iterator<Item = (&HotelCode, Invariant, &Violation)> {
        self.hotels.iter().flat_map(|hotel| {
            hotel.standings().iter().flat_map(move |(invariant, standing)| {
                let first: &[Violation] = match standing {
                    Standing::Checked(violations) => &violations.first,
                    Standing::NotChecked(_) | Standing::NotInThisRelease => &[],
                };
                first.iter().map(move |violation| (&hotel.code, *invariant, violation))
            })
        })
    }

    pub fn is_checked(&self) -> bool {
        self.directory.is_none() && self.hotels.iter().all(HotelReport::is_checked)
    }

    /// 0 clean, 1 violations, 2 could not check. Violations that were found are certain, so they come first.
    pub fn exit_code(&self) -> u8 {
        match (self.violations(), self.is_checked()) {
            (0, true) => 0,
            (0, false) => 2,
            _ => 1,
        }
    }
}

/// One line for each violation, with its hotel and invariant, so that a line can be found and quoted.
/// A clean hotel has none.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(reason) = &self.directory {
            writeln!(f, "the directory could not tell the hotels: {reason}")?;
        }
        for hotel in &self.hotels {
            hotel.fmt(f)?;
        }
        writeln!(
            f,
            "not part of this release: {} ({})",
            Invariant::Projection,
            Invariant::Projection.sentence()
        )?;
        let unchecked = self.hotels.iter().filter(|hotel| !hotel.is_checked()).count();
        let (hotels, violations) = (self.hotels.len(), self.violations());
        write!(f, "hotels: {hotels}; violations: {violations}; hotels not fully checked: {unchecked}")
    }
}

impl fmt::Display for HotelReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { code, shard, finding } = self;
        let Finding::Asked { standings, marked } = finding else {
            return writeln!(f, "{code}: not on shard {shard}; its creation has not ended");
        };
        for (invariant, standing) in standings {
            match standing {
                Standing::Checked(violations) => {
                    for violation in &violations.first {
                        writeln!(f, "{code}, {invariant}: {violation}")?;
                    }
                    let told = i64::try_from(violations.first.len()).unwrap_or(i64::MAX);
                    if violations.total > told {
                        writeln!(f, "{code}, {invariant}: and {} more", violations.total - told)?;
                    }
                }
                Standing::NotChecked(reason) => writeln!(f, "{code}, {invariant}: not checked: {reason}")?,
                Standing::NotInThisRelease => {}
            }
        }
        for hold in marked {
            writeln!(f, "{code}: {hold} is marked as drifted and stays ACTIVE until repaired")?;
        }
        Ok(())
    }
}

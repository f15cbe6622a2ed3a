//! All that may be. An answer that nobody heard leaves two worlds, one in which the call took effect and one in
//! which it did not; calls that ran at the same time leave one for every order that explains what was told. Each
//! answer heard leaves only those in which it would have been given: when none is left, somebody was told wrong.

use std::{collections::BTreeMap, sync::Arc};

use crate::world::World;

/// Every world that something may make of one, of those in which what was told is true. One in which nothing changes
/// is the same one.
type Makes<'a> = dyn Fn(&Arc<World>) -> Vec<Arc<World>> + 'a;

/// Something that happens to a world, or may.
pub struct Happening<'a> {
    makes: Box<Makes<'a>>,
    /// It may not have happened at all.
    perhaps: bool,
    /// The place of the one that it came after; all others are in no order.
    after: Option<usize>,
}

impl<'a> Happening<'a> {
    pub fn new(makes: impl Fn(&Arc<World>) -> Vec<Arc<World>> + 'a) -> Self {
        Self { makes: Box::new(makes), perhaps: false, after: None }
    }

    /// What changes every world in one way.
    pub fn always(change: impl Fn(&mut World) + 'a) -> Self {
        Self::new(move |world| {
            let mut world = World::clone(world);
            change(&mut world);
            vec![Arc::new(world)]
        })
    }

    /// What is read changes nothing, and is so.
    pub fn look(is_so: impl Fn(&World) -> bool + 'a) -> Self {
        Self::new(move |world| is_so(world).then(|| Arc::clone(world)).into_iter().collect())
    }

    #[must_use]
    pub fn perhaps(self) -> Self {
        Self { perhaps: true, ..self }
    }

    #[must_use]
    pub fn after(self, place: usize) -> Self {
        Self { after: Some(place), ..self }
    }
}

impl std::fmt::Debug for Happening<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Happening").field("perhaps", &self.perhaps).field("after", &self.after).finish()
    }
}

#[derive(Clone, Debug)]
pub struct Worlds(Vec<Arc<World>>);

impl Worlds {
    pub fn new(world: World) -> Self {
        Self(vec![Arc::new(world)])
    }

    pub fn iter(&self) -> impl Iterator<Item = &World> {
        self.0.iter().map(AsRef::as_ref)
    }

    /// One of them: whatever the test wants to know before it asks.
    pub fn any(&self) -> Option<&World> {
        self.0.first().map(AsRef::as_ref)
    }

    /// What all of them do alike.
    pub fn each(&mut self, change: impl Fn(&mut World)) {
        self.0.iter_mut().for_each(|world| change(Arc::make_mut(world)));
        let mut worlds = Vec::new();
        self.0.drain(..).for_each(|world| keep(&mut worlds, world));
        self.0 = worlds;
    }

    /// These happened at the same time. False when no order of them explains what was told: then the worlds stay
    /// as they were.
    pub fn happen(&mut self, happenings: &[Happening<'_>]) -> bool {
        let all = (1_usize << happenings.len()) - 1;
        // By the set of those that are over; a set comes before every set that contains it.
        let mut over: BTreeMap<usize, Vec<Arc<World>>> = BTreeMap::from([(0, self.0.clone())]);
        while let Some((set, worlds)) = over.pop_first() {
            if set == all {
                self.0 = worlds;
                return true;
            }
            for (place, happening) in happenings.iter().enumerate() {
                let is_over = set & (1 << place) != 0;
                if is_over || happening.after.is_some_and(|first| set & (1 << first) == 0) {
                    continue;
                }
                let next = over.entry(set | (1 << place)).or_default();
                for world in &worlds {
                    for made in (happening.makes)(world) {
                        keep(next, made);
                    }
                    if happening.perhaps {
                        keep(next, Arc::clone(world));
                    }
                }
            }
            over.retain(|_, worlds| !worlds.is_empty());
        }
        false
    }
}

fn keep(worlds: &mut Vec<Arc<World>>, world: Arc<World>) {
    // Arcs of the same world are equal at once.
    if !worlds.contains(&world) {
        worlds.push(world);
    }
}

//! effectgate-engine: what the product does, a verb a file.

pub mod connect;

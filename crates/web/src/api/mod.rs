//! The API: a file for each noun of SPEC section 18.

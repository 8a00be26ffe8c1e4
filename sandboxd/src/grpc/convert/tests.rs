//! Every bad input of a request gives an error that names field, value and what is allowed.

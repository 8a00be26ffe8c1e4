//! Busy hosts and honest numbers: a program counts the CPUs that its rate is worth, what it was held
//! back is told, and load on the host changes no verdict that is judged by CPU time.

mod views;

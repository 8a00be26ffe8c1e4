"""The messages of the contract, generated from proto/rollcage/v1 by `./x stubs`."""

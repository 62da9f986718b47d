"""A test host: simulated acquirers and their partners, the movable clock, the demo shop. Live hosts never import it."""

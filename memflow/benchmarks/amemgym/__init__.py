"""AMemGym."""

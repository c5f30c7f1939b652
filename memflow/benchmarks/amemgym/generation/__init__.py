"""Generated AMemGym users: personas, state schemas, states, first messages and answer options (paper, section 3.1)."""

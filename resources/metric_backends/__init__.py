"""Libraries and files that metrics need: BERTScore's encoder, WordNet, a pronouncing dictionary."""

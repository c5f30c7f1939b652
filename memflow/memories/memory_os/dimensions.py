"""The dimensions of MemoryOS's user traits, in the paper's three groups (section 3.3).

The paper has the 90 dimensions of Li et al. 2025 (arXiv 2503.15463): 40 needs and traits of personality, 7 of AI
alignment, and 43 interests. The prompt of the published package speaks of 90 and lists 51.
"""

from collections.abc import Mapping

PERSONALITY, ALIGNMENT, INTERESTS = "Basic needs and personality", "AI alignment", "Interest in content"

_PAPER = {
    PERSONALITY: (
        "young age, female gender, neuroticism, extraversion, openness, agreeableness, conscientiousness, "
        "food preferences, living environment, liking of sleep, investment risk, saving, physical safety, "
        "environmental safety, superficial interaction, direct conflict handling, concise communication, "
        "work environment, recognition by others, personal achievement, area of knowledge, learning style, "
        "creative expression, need for order, need for retention, need for inviolacy, need for infavoidance, "
        "need for counteraction, need for seclusion, need for dominance, need for deference, need for autonomy, "
        "need for contrariance, need for abasement, need for aggression, need for affiliation, need for rejection, "
        "need for nurturance, need for succorance, need for play"
    ),
    ALIGNMENT: (
        "harmlessness, instruction following, honesty, truthfulness, helpfulness, coherence, complexity"
    ),
    INTERESTS: (
        "science, knowledge, psychology, cinema, entertainment, gaming, parenting, wild imagination, anime, sports, "
        "law, workplace, pets, travel, health, stories, cars, gourmet food, education, current events, home decor, "
        "international affairs, finance, campus life, digital technology, emotions, humor, music, reading, painting, "
        "dance, crafts, photography, culture, fitness, art, stationery and planners, celebrities, outdoors, camping, "
        "social sciences, weddings, fashion"
    ),
}
_PUBLISHED_CODE = {
    PERSONALITY: (
        "extraversion, openness, agreeableness, conscientiousness, neuroticism, physiological needs, "
        "need for security, need for belonging, need for self-esteem, cognitive needs, aesthetic appreciation, "
        "self-actualization, need for order, need for autonomy, need for power, need for achievement"
    ),
    ALIGNMENT: (
        "helpfulness, honesty, safety, instruction compliance, truthfulness, coherence, complexity, conciseness"
    ),
    INTERESTS: (
        "science, education, psychology, family, fashion, art, health, financial management, sports, food, travel, "
        "music, literature, film, social media, technology, environment, history, politics, religion, gaming, "
        "animals, emotional expression, sense of humor, information density, language style, practicality"
    ),
}

DIMENSIONS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    version: {group: tuple(names.split(", ")) for group, names in groups.items()}
    for version, groups in (("paper", _PAPER), ("published_code", _PUBLISHED_CODE))
}
"""The names of the dimensions by version and group."""


def dimension_names(version: str) -> frozenset[str]:
    """Return the names of all dimensions of a version, `paper` or `published_code`."""
    return frozenset(name for names in DIMENSIONS[version].values() for name in names)


def dimension_lists(version: str) -> str:
    """Return the dimensions of a version as text for a prompt, one group per line."""
    return "\n".join(f"{group}: {', '.join(names)}" for group, names in DIMENSIONS[version].items())

"""English tokenization for METEOR: the tokens of NLTK's sentence and word tokenizers.

The sentence tokenizer Punkt is untrained, so `Dr.` ends a sentence. The import of this module takes a second.
"""

from nltk.tokenize.destructive import NLTKWordTokenizer
from nltk.tokenize.punkt import PunktSentenceTokenizer

_SENTENCES = PunktSentenceTokenizer()
_WORDS = NLTKWordTokenizer()


def treebank_words(text: str) -> list[str]:
    """Return the words and punctuation marks of a text in order."""
    return [word for sentence in _SENTENCES.tokenize(text) for word in _WORDS.tokenize(sentence)]

"""Tokenization for search: the words that BM25 and the hashing embedder use.

A text is divided by script, and each part is tokenized by the rules of its script, so that mixed texts work. Metrics
have their own tokenization.
"""

import re
import unicodedata
from string import ascii_lowercase

HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"

_WORD = re.compile(r"\w+")
_RUN = re.compile(rf"([{HAN}]+)|[^\W{HAN}]+")

_ENGLISH = (
    "a an and are as at be been but by can could did do does for from had has have he her him his how i if in"
    " into is it its me my no not of on or our she so than that the their them then there these they this to"
    " us was we were what when where which who will with would you your"
)
_CHINESE = (
    "的 了 是 在 我 你 他 她 它 们 我们 你们 他们 和 与 或 也 都 就 吗 呢 吧 啊 这 那 有 不 很 被 把 对 为 着"
    " 地 得 什么 怎么 哪"
)
STOP = frozenset((*_ENGLISH.split(), *_CHINESE.split()))
"""English and Chinese stop words."""
_OMITTED = STOP | frozenset(ascii_lowercase)


def search_words(text: str) -> list[str]:
    """Return the words of `text` in order, in lower case, without stop words and single Latin letters.

    Chinese is divided by jieba's search mode (long words and the words in them), other text at characters that are
    neither letters nor digits. There is no stemming.
    """
    if text.isascii():
        words = _WORD.findall(text.lower())
    else:
        words = []
        for run in _RUN.finditer(unicodedata.normalize("NFKC", text).lower()):
            words.extend(_chinese_words(run[0]) if run[1] else (run[0],))
    return [word for word in words if word not in _OMITTED]


def _chinese_words(text: str) -> list[str]:
    import rjieba  # noqa: PLC0415  (loading its dictionary takes 0.2 s)

    return rjieba.cut_for_search(text)

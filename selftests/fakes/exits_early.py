"""Says hello and leaves, with success."""

from honest import answer, requests

answer(next(requests()))

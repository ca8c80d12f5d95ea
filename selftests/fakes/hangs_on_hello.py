"""Never answers anything."""

from honest import requests

for _ in requests():
    pass

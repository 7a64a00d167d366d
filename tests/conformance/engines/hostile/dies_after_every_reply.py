"""Takes one case for each process, as a CGI script would."""

from speaking import HELLO, answer, requests

for request in requests():
    if request["op"] == "replay":
        answer(request)
        break
    answer(request, ok=HELLO)

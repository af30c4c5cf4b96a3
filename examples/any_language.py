# A program that knows nothing of batchling, and is not Node:
#   batchling exec --gateway -- python3 examples/any_language.py
# It finds its server as the official SDKs do: in OPENAI_BASE_URL.
import json
import os
import urllib.request
from concurrent.futures import ThreadPoolExecutor

base = os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1")


def ask(city):
    question = {"role": "user", "content": f"One sentence about {city}."}
    request = urllib.request.Request(
        f"{base}/chat/completions",
        json.dumps({"model": "gpt-5-mini", "messages": [question]}).encode(),
        {
            "authorization": f"Bearer {os.environ['OPENAI_API_KEY']}",
            "content-type": "application/json",
        },
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["choices"][0]["message"]["content"]


cities = ["Lisbon", "Porto", "Braga", "Faro"]
# All at once: calls that wait at the same time share a batch.
with ThreadPoolExecutor(len(cities)) as threads:
    for city, sentence in zip(cities, threads.map(ask, cities)):
        print(f"{city}: {sentence}")

import json, re, sys
from pyspark.sql import SparkSession, functions as F
spark = SparkSession.builder.appName("wat_to_parquet").getOrCreate()
def join(base, link):  # as browsers do; fragments, dot segments, escapes and upper case are left to Seedbank
    origin, scheme, path, folder = re.match(r"((https?:)//[^/\\?#]*)(([^?#]*[/\\])?[^?#]*)", base, re.I).groups()
    link = re.sub(rf"^[\0- ]*({scheme}(?!//))?|[\0- ]+$|[\t\n\r]", "", link, flags=re.I)
    starts = {"[a-z][a-z0-9+.-]*:": "", r"[/\\]{2}": scheme, r"[/\\]": origin, r"\?": origin + path, "#|$": base}
    start = next((start for head, start in starts.items() if re.match(head, link, re.I)), origin + (folder or "/"))
    return start + link if re.match(r"https?:[/\\]*[^/\\]", start + link, re.I) else None
@F.udf("""array<struct<url string, site string, fetched string, status int, digest string, redirect string,
    canonical string, outlinks array<string>>>""")
def pages(line):
    try:
        header, payload = map(json.loads(line)["Envelope"].get, ["WARC-Header-Metadata", "Payload-Metadata"])
        response, url = payload.get("HTTP-Response-Metadata", {}), header.get("WARC-Target-URI")
        status = str(response.get("Response-Message", {}).get("Status")).strip()
        if header["WARC-Type"] != "response" or not re.fullmatch("(?!304)[1-5][0-9][0-9]", status):
            return []
        host = re.match(r"https?://(?:[^/?#]*@)?(\[[^]]*\]|[^:/?#]*)", url, re.I)[1].lower().rstrip(".")
        page = {"url": url, "site": re.sub(r"^www\.(?=.*\.)", "", host), "status": int(status)}
        page["fetched"] = header.get("WARC-Date")
        if status[0] == "3":
            to = next((to for name, to in response["Headers"].items() if name.lower() == "location"), "")
            page["redirect"] = to = join(url, to if isinstance(to, str) else to[0])
            return [page] if to and to.split("#")[0] != url.split("#")[0] else []
        if status[0] == "2":
            page["digest"] = header.get("WARC-Payload-Digest", response.get("Entity-Digest"))
        if status[0] == "2" and "HTML-Metadata" in response:
            head, links = response["HTML-Metadata"].get("Head", {}), response["HTML-Metadata"].get("Links", [])
            base = re.sub(r"/\.\.$", "/../", join(url, head.get("Base", "")) or url)
            links = [join(base, link["url"]) for link in links if link["path"] in ("A@/href", "AREA@/href")]
            page["outlinks"] = [link for link in links if link]
            links = [link["url"] for link in head.get("Link", []) if "canonical" in link.get("rel", "").lower().split()]
            page["canonical"] = join(base, links[0]) if links else None
        return [page]
    except (AttributeError, KeyError, TypeError, ValueError):
        return [{}]  # a damaged record: Seedbank rejects and counts a row without a URL
table = spark.read.text(sys.argv[2:]).where("value LIKE '{%'").select(F.inline(pages("value")))
table = table.withColumn("shard", F.expr("pmod(xxhash64(site), 1024)")).drop("site")
table.repartition("shard").write.partitionBy("shard").parquet(sys.argv[1])

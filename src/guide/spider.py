import hashlib, json, scrapy, time
from scrapy.exceptions import IgnoreRequest
from scrapy.linkextractors import LinkExtractor
from scrapy.utils.request import request_from_dict
from twisted.internet import defer, error
REASONS = {IgnoreRequest: "robots", error.DNSLookupError: "dns", error.TimeoutError: "timeout", error.TCPTimedOutError: "timeout",
    error.ConnectError: "connect", error.ConnectionLost: "connect", error.ConnectionDone: "connect", defer.CancelledError: "too-large"}
class Pages(scrapy.Spider):
    name, custom_settings = "pages", {"HTTPERROR_ALLOW_ALL": True, "REDIRECT_ENABLED": False}
    async def start(self):
        for request in json.load(open(self.seeds)):
            yield request_from_dict(request, spider=self).replace(errback=self.failed)
    def failed(self, failure):
        why = getattr(failure.value, "reasons", [failure])[0].value
        tls = "SSL" in type(why).__module__ or "SSL" in type(why).__name__
        reason = next((name for kind, name in REASONS.items() if isinstance(why, kind)), "tls" if tls else "other")
        yield {"url": failure.request.url, "fetched": time.time(), "status": reason}
    def parse(self, response):
        page, found = {"url": response.url, "fetched": time.time(), "status": response.status}, []
        if 300 <= response.status < 400 and "Location" in response.headers:
            found = [response.urljoin(response.headers["Location"].decode("latin-1"))]
            page["redirect"] = found[0]
        elif 200 <= response.status < 300:
            page["digest"] = hashlib.sha1(response.body).hexdigest()
            if isinstance(response, scrapy.http.HtmlResponse):
                found = page["outlinks"] = [link.url for link in LinkExtractor(deny_extensions=[]).extract_links(response)]
        yield from [page, *response.follow_all(found, errback=self.failed)]

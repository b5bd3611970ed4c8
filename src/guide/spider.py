import hashlib, json, scrapy, time
from scrapy.linkextractors import LinkExtractor
from scrapy.utils.request import request_from_dict
# Errors without an answer, by the names of their classes, which depend on Scrapy's version.
REASONS = {"IgnoreRequest": "robots", "CannotResolveHostError": "dns", "DNSLookupError": "dns", "DownloadCancelledError": "too-large",
    "DownloadTimeoutError": "timeout", "TimeoutError": "timeout", "TCPTimedOutError": "timeout", "ConnectionRefusedError": "connect",
    "DownloadConnectionRefusedError": "connect", "DownloadFailedError": "connect", "ResponseFailed": "connect"}
class Pages(scrapy.Spider):
    name, custom_settings = "pages", {"HTTPERROR_ALLOW_ALL": True, "REDIRECT_ENABLED": False}
    async def start(self):
        for request in json.load(open(self.seeds)):
            request = request_from_dict(request, spider=self).replace(errback=self.failed)
            request.meta["seed"] = request.url
            yield request
    def origin(self, request):
        return {"seed": request.meta["seed"], "via": request.meta.get("via"), "depth": request.meta.get("depth", 0)}
    def failed(self, failure):
        error = failure.value
        reason = "tls" if "SSL" in repr(error) else REASONS.get(type(error).__name__, "other")
        yield {"url": failure.request.url, "fetched": time.time(), "status": reason, **self.origin(failure.request)}
    def parse(self, response):
        page, found = {"url": response.url, "fetched": time.time(), "status": response.status, **self.origin(response.request)}, []
        if 300 <= response.status < 400 and "Location" in response.headers:
            found = [response.urljoin(response.headers["Location"].decode("latin-1"))]
            page["redirect"] = found[0]
        elif 200 <= response.status < 300:
            page["digest"] = hashlib.sha1(response.body).hexdigest()
            if isinstance(response, scrapy.http.HtmlResponse):
                found = page["outlinks"] = [link.url for link in LinkExtractor(deny_extensions=[]).extract_links(response)]
        via = {"seed": response.meta["seed"], "via": response.url}
        yield from [page, *response.follow_all(found, errback=self.failed, meta=via)]

import hashlib, json, scrapy, time
from scrapy.linkextractors import LinkExtractor
from scrapy.utils.request import request_from_dict
class Pages(scrapy.Spider):
    name, handle_httpstatus_list = "pages", [301, 302, 303, 307, 308, 404, 410]
    async def start(self):
        for request in json.load(open(self.seeds)):
            yield request_from_dict(request, spider=self)
    def parse(self, response):
        gone, found = response.status in (404, 410), []
        if 300 <= response.status < 400 and "Location" not in response.headers: return
        page = {"url": response.url, "fetched": time.time(), "gone": gone}
        if 300 <= response.status < 400:
            found = [response.urljoin(response.headers["Location"].decode("latin-1"))]
            page["redirect"] = found[0]
        elif not gone:
            page["digest"] = hashlib.sha1(response.body).hexdigest()
            if isinstance(response, scrapy.http.HtmlResponse):
                found = page["outlinks"] = [link.url for link in LinkExtractor(deny_extensions=[]).extract_links(response)]
        yield from [page, *response.follow_all(found)]

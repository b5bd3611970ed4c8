-- Requests for wrk: one half the most linked pages of a bank, the other half any pages.
-- TOP and ANY name files with an address a line; JSON=1 asks for JSON.

local function lines(name)
  local all = {}
  for line in io.lines(os.getenv(name)) do all[#all + 1] = line end
  return all
end

local top, any = lines("TOP"), lines("ANY")
local api = os.getenv("JSON") and "/v1" or ""

function init()
  math.randomseed(1)
end

function request()
  local from = math.random() < 0.5 and top or any
  return wrk.format("GET", api .. from[math.random(#from)])
end

function done(summary, latency)
  io.write(string.format(
    "requests %d, errors %d; latency p50 %.1f ms, p99 %.1f ms, p99.9 %.1f ms, longest %.1f ms\n",
    summary.requests,
    summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.status + summary.errors.timeout,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    latency:percentile(99.9) / 1000, latency.max / 1000))
end

-- Reservations for wrk. Environment: HOT = number of hot keys (0: every key is new), RUN = a word that makes this run's
-- keys new, TOKEN = API key, BATCH = reservations per POST (0: one, without the batch form).
local hot, run = tonumber(os.getenv("HOT") or "0"), os.getenv("RUN") or tostring(os.time())
local batch, token = tonumber(os.getenv("BATCH") or "0"), os.getenv("TOKEN")
local hash = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
local fmt, rnd, nthread = string.format, math.random, 0
function setup(t) t:set("tid", nthread); nthread = nthread + 1 end
function init()
  n = 0
  math.randomseed(tid * 7919 + os.time())
  wrk.headers["content-type"] = "application/json"
  wrk.headers["authorization"] = "Bearer " .. token
end
local function one()
  n = n + 1
  local key = hot > 0 and "hot-" .. rnd(hot) or fmt("%08x-%s-%d-%d", rnd(0, 0x7fffffff), run, tid, n)
  return fmt('{"flow":"bench","key":"%s","payload_hash":"%s","owner":"3f2504e0-4f89-41d3-9a0c-%012x"}', key, hash, n)
end
function request()
  if batch == 0 then return wrk.format("POST", "/v1/runs", nil, one()) end
  local runs = {}
  for i = 1, batch do runs[i] = one() end
  return wrk.format("POST", "/v1/runs/batch", nil, '{"runs":[' .. table.concat(runs, ",") .. "]}")
end
function done(s, l)
  local e = s.errors
  io.write(fmt('{"rate":%.1f,"p50_ms":%.3f,"p99_ms":%.3f,"requests":%d,"non2xx":%d,"socket_errors":%d}\n',
    s.requests / s.duration * 1e6 * math.max(batch, 1), l:percentile(50) / 1000, l:percentile(99) / 1000,
    s.requests, e.status, e.connect + e.read + e.write + e.timeout))
end

// The empty server of the benchmark: answers every request with {} once its body is read. Node's own HTTP server, because
// Python's would be the slow part of what is measured.
const server = require('http').createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    response.setHeader('content-type', 'application/json');
    response.end('{}');
  });
});
server.listen(Number(process.argv[2]), '127.0.0.1');

import { connect } from 'node:net';

/**
 * Readers of the event feed in a separate process, which prints its port. Raw sockets, and of each event only its line is
 * counted. `GET /seen` returns how many events all readers have received, and resets it.
 */
const { FEED_PORT = '', FEED_KEY = '', FEED_QUERY = '', FEED_READERS = '1' } = process.env;
const eventLine = Buffer.from('\ndata: ');
let count = 0;

for (let i = 0; i < Number(FEED_READERS); i++) {
  const socket = connect(Number(FEED_PORT), '127.0.0.1', () =>
    socket.write(
      `GET /v1/events?${FEED_QUERY} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${FEED_KEY}\r\nAccept: text/event-stream\r\n\r\n`,
    ),
  );
  // A line that is split over two pieces is not counted: about one in a thousand.
  socket.on('data', (piece: Buffer) => {
    for (let at = piece.indexOf(eventLine); at !== -1; at = piece.indexOf(eventLine, at + eventLine.length)) count++;
  });
}

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch() {
    const seen = count;
    count = 0;
    return Response.json({ count: seen });
  },
});
console.log(server.port);

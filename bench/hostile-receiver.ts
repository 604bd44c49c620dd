/**
 * A webhook receiver in a separate process, which prints its port: it answers with a length and with chunks that never end, as
 * fast as they are read. With the lowest priority: the receiver of an attacker is not on the machine of the service.
 */
import { leaveFirstCpu } from '../src/lib/leave-first-cpu.ts';
import { lowerPriority } from '../src/lib/lower-priority.ts';

void lowerPriority(19);
leaveFirstCpu();
const chunk = Buffer.from(`10000\r\n${'x'.repeat(0x10000)}\r\n`);
const head = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n';

interface Connection {
  hasBegun: boolean;
}

const listening = Bun.listen<Connection>({
  hostname: '127.0.0.1',
  port: 0,
  socket: {
    open(socket) {
      socket.data = { hasBegun: false };
    },
    data(socket) {
      if (socket.data.hasBegun) return;
      socket.data.hasBegun = true;
      socket.write(head);
      while (socket.write(chunk) === chunk.length);
    },
    // What did not fit before is lost: the body is not meant to be valid.
    drain(socket) {
      while (socket.write(chunk) === chunk.length);
    },
  },
});
console.log(listening.port);

import type { Answer } from './answer.ts';
import type { Engine, EngineConnection } from './engine.ts';
import { chunking, joinChunks } from './formats.ts';
import { preamble } from './preamble.ts';
import type { QueryRequest } from './request.ts';
import type { Statement } from './statement.ts';

/** Runs a query on a separate connection, and answers it. */
export async function runAlone(
  engine: Engine,
  request: QueryRequest,
  statement: Statement,
  answer: Answer,
  gone: AbortSignal,
): Promise<void> {
  const connection = await engine.connect();
  const cancel = () => connection.cancel();
  // Only reads are cancelled when the client disconnects: a write is completed, never applied in part.
  if (statement.kind === 'select') {
    gone.addEventListener('abort', cancel, { once: true });
    // The event may have fired before the listener was added.
    if (gone.aborted) cancel();
  }
  try {
    for (const sql of preamble(request, connection.settings)) await connection.run(sql, 'Null');
    await run(connection, request, statement, answer);
  } finally {
    gone.removeEventListener('abort', cancel);
    await connection.close();
  }
}

async function run(
  connection: EngineConnection,
  request: QueryRequest,
  statement: Statement,
  answer: Answer,
): Promise<void> {
  if (statement.kind === 'insert') {
    const { rows, bytes } = await connection.insert(statement.insert);
    const counts = { read_rows: rows, read_bytes: bytes, written_rows: rows, written_bytes: bytes };
    answer.begin(request.id, request.format, undefined, counts);
    return answer.end();
  }
  const format = statement.format ?? request.format;
  const chunked = chunking(format);
  if (chunked !== undefined && statement.kind === 'select' && !statement.totals && !request.inOnePiece) {
    // The response begins with the first rows, so that an error before them can still set the status.
    let begun = false;
    const begin = () => {
      if (!begun) answer.begin(request.id, format, request.codec, {});
      begun = true;
    };
    for await (const chunk of joinChunks(connection.stream(statement.sql, format), chunked)) {
      begin();
      await answer.write(chunk);
    }
    begin();
    return answer.end();
  }
  const { data, rows, bytes } = await connection.run(statement.sql, format);
  answer.begin(request.id, format, request.codec, { result_rows: rows, result_bytes: bytes });
  await answer.write(data);
  answer.end();
}

/**
 * The thread that writes to an SQLite store; `SqliteWriter` starts it and says why there is one. It says `open` once it
 * has the file, then what became of each batch, in their order, and ends at a `null`.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { faultOf, type SqliteFault } from './errors.ts';
import { connect } from './file.ts';
import { assertInPlace } from './location.ts';
import type { SqliteThreadData } from './writer.ts';
import { type SqliteBatch, SqliteWrites } from './writes.ts';

if (parentPort === null) throw new Error('this file is run by a worker thread');
const port = parentPort;
const { places, ...connection } = workerData as SqliteThreadData;
const database = connect(connection);
const tables = new SqliteWrites(database);

function answer(batch: SqliteBatch): readonly boolean[] | SqliteFault {
  try {
    // What is written to a deleted file is gone after the next start, however well it was acknowledged.
    assertInPlace(places);
    return tables.write(batch);
  } catch (thrown) {
    return faultOf(thrown);
  }
}

port.on('message', (batch: SqliteBatch | null) => {
  if (batch !== null) return port.postMessage(answer(batch));
  database.close();
  port.close();
});
port.postMessage('open');

/**
 * Entry point of the worker thread that writes to an SQLite store; see `SqliteWriter`, which starts it, for the reason.
 * Posts `open` once the file is open, then the outcome of each batch, in order; exits on a `null`.
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

function write(batch: SqliteBatch): readonly boolean[] | SqliteFault {
  try {
    // Writes to a deleted file are lost at the next start, although they were acknowledged.
    assertInPlace(places);
    return tables.write(batch);
  } catch (thrown) {
    return faultOf(thrown);
  }
}

port.on('message', (batch: SqliteBatch | null) => {
  if (batch !== null) return port.postMessage(write(batch));
  database.close();
  port.close();
});
port.postMessage('open');

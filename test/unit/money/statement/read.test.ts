import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Big } from 'big.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseMapping, readStatement, type StatementFile } from '#src/money/statement/read.ts';

const NAMES = 'id=task,amount=cost,at=time';
const NUMBERS = 'id=1,amount=2,at=3';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'statement-'));
});
afterEach(() => rm(dir, { recursive: true }));

async function read(content: string | Buffer, map = NAMES, given: Partial<StatementFile> = {}) {
  const path = join(dir, 'statement.csv');
  await writeFile(path, content);
  const statement = await readStatement({ path, mapping: parseMapping(map), ...given });
  const rows = [...statement.rows];
  return { ...statement, rows: rows.map(({ id, amount }) => [id, amount.toFixed()]) };
}

const rowsIn = async (...given: Parameters<typeof read>) => (await read(...given)).rows;

describe('a statement is read', () => {
  it('by the names of its columns, whatever their order and case, with quotes, BOM and CRLF', async () => {
    const text =
      '\uFEFFTime,"Note, long",Task,Cost\r\n2026-10-03,"a ""b""\r\nc",up-1,0.30\r\n\r\n2026-10-04,x,up-2,"1,200.00"\r\n';
    expect(await rowsIn(text)).toEqual([
      ['up-1', '0.3'],
      ['up-2', '1200'],
    ]);
  });

  it.each([';', '\t', '|'])('with the delimiter %j', async (delimiter) => {
    const text = [
      ['task', 'cost', 'time'],
      ['up-1', '0.30', '2026-10-03'],
    ]
      .map((row) => row.join(delimiter))
      .join('\n');
    expect(await rowsIn(text)).toEqual([['up-1', '0.3']]);
  });

  it('in UTF-16, as spreadsheets export it', async () => {
    const text = '\uFEFFtask\tcost\ttime\nup-ä\t0.30\t2026-10-03\n';
    const bytes = Buffer.from(text, 'utf16le');
    expect(await rowsIn(bytes)).toEqual([['up-ä', '0.3']]);
    expect(await rowsIn(bytes.swap16())).toEqual([['up-ä', '0.3']]);
  });

  it('by the numbers of its columns, without a header or with one', async () => {
    expect(await rowsIn('up-1,0.30,2026-10-03\nup-2,0.40,2026-10-03', NUMBERS)).toHaveLength(2);
    expect(await rowsIn('task,cost,time\nup-1,0.30,2026-10-03', NUMBERS)).toEqual([['up-1', '0.3']]);
  });

  it('with decimal commas, which the amounts of the whole file tell', async () => {
    const text = 'task;cost;time\nup-1;1.234;3.10.2026\nup-2;0,30;3.10.2026\n';
    expect(await rowsIn(text)).toEqual([
      ['up-1', '1234'],
      ['up-2', '0.3'],
    ]);
  });

  it('with refunds, by sign or by kind, and currencies', async () => {
    const text =
      'task,cost,time,kind,cur\nup-1,0.30,2026-10-03,charge,usd\nup-1,-0.30,2026-10-03,refund,USD\nup-2,0.40,2026-10-03,Refund,EUR\n';
    const file = await read(text, `${NAMES},kind=kind,currency=cur`);
    expect(file.rows.map(([, amount]) => amount)).toEqual(['0.3', '-0.3', '-0.4']);
  });

  it('without its totals, and with rows that name no task', async () => {
    const text = 'task,cost,time\n,5.00,2026-10-03\n,5.00,\n';
    expect(await rowsIn(text)).toEqual([['', '5']]);
  });

  it('with a footer, which is left out and named', async () => {
    const text =
      'task,cost,time\nup-1,0.30,2026-10-03\n,0.30,\nup-2,0.40,2026-10-03\nTax,$ 0.07 (10 %),\nTotal,0.77,n/a\n';
    const { rows, leftOut } = await read(text);
    expect(rows.map(([id]) => id)).toEqual(['up-1', 'up-2']);
    expect(leftOut).toEqual([
      { line: 3, id: '' },
      { line: 5, id: 'Tax' },
      { line: 6, id: 'Total' },
    ]);
  });

  it('with dates in a given order, amounts in a given unit, and lines above its header', async () => {
    const head = 'Acme "Video" Inc.\r\n\r\nNovember; 2026\r\n';
    const text = `${head}task,cost,time\r\nup-1,20,11/23/2026 10:00 AM\r\nup-2,(3),11/3/2026\r\n`;
    const given = { dates: 'mdy', scale: new Big('0.01'), skip: 3 } as const;
    expect(await rowsIn(text, NAMES, given)).toEqual([
      ['up-1', '0.2'],
      ['up-2', '-0.03'],
    ]);
    await expect(read(text.replace('20,', 'abc,'), NAMES, given)).rejects.toThrow('Line 5: "abc" is not an amount');
    await expect(read('a\n', NAMES, { skip: 3 })).rejects.toThrow('is empty');
    const quota = await rowsIn('task,cost,time\nup-1,166667,2026-10-03\n', NAMES, { scale: new Big('0.000002') });
    expect(quota).toEqual([['up-1', '0.333334']]);
  });

  it('to the same hash for the same bytes alone', async () => {
    const text = 'task,cost,time\nup-1,0.30,2026-10-03\n';
    const [one, same, other] = [await read(text), await read(text), await read(`${text} `)];
    expect(one.hash).toMatch(/^[0-9a-f]{64}$/u);
    expect(same.hash).toBe(one.hash);
    expect(other.hash).not.toBe(one.hash);
    // What was read wrongly is read again with other options, and must not count as imported before.
    const options = [
      { scale: new Big('0.01') },
      { scale: new Big('0.001') },
      { tolerance: '0.01' },
      { dates: 'mdy' },
    ] as const;
    const hashes = new Set([one.hash]);
    // One after the other: each writes the file anew.
    for (const given of options) hashes.add((await read(text, NAMES, given)).hash);
    expect(hashes.size).toBe(5);
  });
});

describe('one sentence says', () => {
  const rejects = async (given: Parameters<typeof read>, sentence: string | RegExp) =>
    expect(read(...given)).rejects.toThrow(sentence);

  it('which part of --map is wrong', async () => {
    expect(() => parseMapping('id=task,amount=cost')).toThrow('--map lacks at;');
    expect(() => parseMapping('id=task,price=cost')).toThrow('"price=cost" names no field');
    expect(() => parseMapping('id=task,id=cost')).toThrow('the column of id twice');
    expect(() => parseMapping('')).toThrow('names no field');
  });

  it('which column is missing, and which exist', async () => {
    await rejects(['task,price,time\n'], 'no column named "cost". Its first row: "task", "price", "time".');
    await rejects(['up-1,0.30\n', NUMBERS], 'no column 3: its first row has 2 columns');
    await rejects(['task,cost,time,cost\n'], '2 columns named "cost"');
  });

  it('which line cannot be read, and why', async () => {
    await rejects(['task,cost,time\nup-1,0.30,2026-10-03\nup-2,abc,2026-10-03\n'], 'Line 3: "abc" is not an amount');
    await rejects(
      ['task,cost,time\nup-1,0.30,03/10/2026\n'],
      /"03\/10\/2026" is not a time .*; for dates such as 10\/03\/2026, add --dates mdy, dmy or ymd\./u,
    );
    await rejects(
      ['task,cost,time\nup-1,0.30,23/11/2026\n', NAMES, { dates: 'mdy' }],
      'is not a time such as 2026-10-03T18:30:00Z.',
    );
    await rejects(['task,cost,time\nup-1,1e9,2026-10-03\n'], 'Line 2: "1e9" is not an amount');
    await rejects(
      ['task,cost,time\nup-1,0.30,2026-10-03\nup-2,0,40,2026-10-03\nup-3,"0,40",2026-10-03\n'],
      /Line [34]:/u,
    );
    await rejects(
      ['task,cost,time,cur\nup-1,0.30,2026-10-03,Dollar\n', `${NAMES},currency=cur`],
      '"DOLLAR" is not a currency',
    );
    await rejects(
      ['task,cost,time\nup-1,"0,30",2026-10-03\n', NAMES, { decimal: 'point' }],
      'not an amount with a decimal point',
    );
  });

  it('that a row without a time is no footer where rows follow, or where it names a task', async () => {
    await rejects(['task,cost,time\nTotal,1,\nup-1,0.30,2026-10-03\n'], 'Line 2: "Total" has no time');
    await rejects(['task,cost,time\nup-1,0.30,2026-10-03\nup-2,0.30,\n'], 'Line 3: "" is not a time');
  });

  it('that there are too many rows', { timeout: 600_000 }, async () => {
    const text = `task,cost,time\n${'up-1,0.30,2026-10-03\n'.repeat(250_001)}`;
    await rejects([text], 'has more than 250,000 rows; import it in parts, one for each month.');
  });

  it('that an amount can be read in two ways, unless told which one is meant', async () => {
    const text = 'task;cost;time\nup-1;1.234;2026-10-03\n';
    await rejects([text], 'Line 2: "1.234" can be read in two ways; add --decimal point or --decimal comma.');
    expect(await rowsIn(text, NAMES, { decimal: 'comma' })).toEqual([['up-1', '1234']]);
    expect(await rowsIn(text, NAMES, { decimal: 'point' })).toEqual([['up-1', '1.234']]);
  });

  it('that the file is missing, empty, a folder, or no text', async () => {
    const file = (path: string) => ({ path, mapping: parseMapping(NAMES) });
    await expect(readStatement(file(join(dir, 'none.csv')))).rejects.toThrow('There is no file');
    await mkdir(join(dir, 'folder'));
    await expect(readStatement(file(join(dir, 'folder')))).rejects.toThrow('is a folder');
    await rejects([''], 'is empty');
    await rejects([Buffer.from([0x50, 0x4b, 3, 4, 0, 0])], 'is not a CSV file: it is not text');
    await rejects(['task,cost,time\n"up-1,0.30,2026-10-03\n'], 'is not a CSV file:');
  });
});

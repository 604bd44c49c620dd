import { describe, expect, test } from 'vitest';
import { asEngineError } from '../../src/stack/clickhouse/errors.ts';
import { readStatement } from '../../src/stack/clickhouse/statement.ts';

const read = (query: string, body = '') => readStatement(Buffer.from(query), Buffer.from(body));

describe('readStatement', () => {
  test.each([
    ['SELECT 1', 'select', undefined],
    ['  -- first\n/* second; */ select 1 format CSV', 'select', 'CSV'],
    ['((SELECT 1) UNION ALL (SELECT 2)) FORMAT JSON;', 'select', 'JSON'],
    ['WITH x AS (SELECT 1) SELECT * FROM x FORMAT TSV SETTINGS max_threads = 1', 'select', 'TSV'],
    ["SELECT 'FORMAT CSV'", 'select', undefined],
    ["SELECT 'a''b; FORMAT CSV', `;`, \";\", 'c\\';' -- FORMAT CSV", 'select', undefined],
    ['SELECT $x$ FORMAT CSV; $x$ FORMAT JSONEachRow', 'select', 'JSONEachRow'],
    ['SELECT format FROM t', 'select', undefined],
    ['SHOW TABLES FORMAT TSV', 'command', 'TSV'],
    ['EXPLAIN SELECT 1', 'command', undefined],
    ['CREATE TABLE t (a UInt8) ENGINE = Memory', 'command', undefined],
    ['INSERT INTO t SELECT 1', 'command', undefined],
    ['INSERT INTO t (a) (SELECT 1)', 'command', undefined],
    ['INSERT INTO t WITH x AS (SELECT 1) SELECT * FROM x', 'command', undefined],
    ['WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x', 'command', undefined],
    ["SELECT 'never closed; FORMAT CSV", 'select', undefined],
  ])('reads %s as %s with the format %s', (query, kind, format) => {
    expect(read(query)).toMatchObject({ kind, format });
  });

  test('detects WITH TOTALS', () => {
    expect(read('SELECT a, count() FROM t GROUP BY a WITH TOTALS')).toMatchObject({ totals: true });
    expect(read('SELECT a FROM t')).toMatchObject({ totals: false });
  });

  test('refuses several statements, KILL QUERY and INTO OUTFILE', () => {
    expect(() => read('SELECT 1; SELECT 2')).toThrow('Multi-statements');
    expect(() => read('SELECT 1', '; DROP TABLE t')).toThrow('Multi-statements');
    expect(() => read("kill /* it */ query where query_id = 'x' sync")).toThrow('KILL QUERY');
    expect(() => read("SELECT 1 INTO OUTFILE '/tmp/x'")).toThrow('INTO OUTFILE');
  });
});

describe('the rows of an insert', () => {
  test.each([
    ['INSERT INTO t FORMAT JSONEachRow', '{"a":1}', "INSERT INTO t \nFROM INFILE 'f'\n\nFORMAT JSONEachRow", '{"a":1}'],
    ['INSERT INTO t FORMAT CSV \r\n1\n', '', "INSERT INTO t \nFROM INFILE 'f'\n\nFORMAT CSV", '1\n'],
    ['INSERT INTO t FORMAT TSV\n\nx', '', "INSERT INTO t \nFROM INFILE 'f'\n\nFORMAT TSV", '\nx'],
    [
      'insert into `d`.`t;` (a, `b)`) values (1, 2);',
      '',
      "insert into `d`.`t;` (a, `b)`) \nFROM INFILE 'f'\n\nFORMAT Values",
      ' (1, 2);',
    ],
    ['INSERT INTO format FORMAT CSV\n', '1', "INSERT INTO format \nFROM INFILE 'f'\n\nFORMAT CSV", '1'],
    ['INSERT INTO db.values VALUES (1)', '', "INSERT INTO db.values \nFROM INFILE 'f'\n\nFORMAT Values", ' (1)'],
    [
      'INSERT INTO t SETTINGS async_insert=1 FORMAT CSV\n',
      '1',
      "INSERT INTO t \nFROM INFILE 'f'\nSETTINGS async_insert=1 \nFORMAT CSV",
      '1',
    ],
    ['INSERT INTO t -- why\nFORMAT CSV\n', '1', "INSERT INTO t -- why\n\nFROM INFILE 'f'\n\nFORMAT CSV", '1'],
    ["INSERT INTO 日本 VALUES ('é')", '', "INSERT INTO 日本 \nFROM INFILE 'f'\n\nFORMAT Values", " ('é')"],
  ])('are found in %j with the body %j', (query, body, sql, rows) => {
    const statement = read(query, body);
    if (statement.kind !== 'insert') throw new Error(`read as ${statement.kind}`);
    expect(statement.insert.sql('f')).toBe(sql);
    expect(Buffer.from(statement.insert.data).toString()).toBe(rows);
  });

  test('keep all bytes, even if they are not UTF-8', () => {
    const bytes = Buffer.from([0xff, 0x00, 0xc3, 0x28]);
    const statement = readStatement(
      Buffer.concat([Buffer.from('INSERT INTO ü FORMAT RowBinary\n'), bytes]),
      Buffer.alloc(0),
    );
    if (statement.kind !== 'insert') throw new Error(`read as ${statement.kind}`);
    expect(Buffer.from(statement.insert.data)).toEqual(bytes);
  });
});

describe('asEngineError', () => {
  test.each([
    [
      'Code: 60. DB::Exception: Table x does not exist. (UNKNOWN_TABLE)',
      'Code: 60. DB::Exception: Table x does not exist. (UNKNOWN_TABLE) (version 1.2)',
    ],
    [
      'Code: 117. DB::Exception: Code: 117. DB::Exception: Bad row: (at row 1)\n. (INCORRECT_DATA) (version 26.5.1.1). (INCORRECT_DATA)',
      'Code: 117. DB::Exception: Bad row: (at row 1)\n. (INCORRECT_DATA) (version 1.2)',
    ],
    [
      'No active streaming query',
      'Code: 1002. DB::Exception: No active streaming query. (UNKNOWN_EXCEPTION) (version 1.2)',
    ],
  ])('parses %j', (message, text) => {
    expect(asEngineError(new Error(message)).text('1.2')).toBe(text);
  });
});

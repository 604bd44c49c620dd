import { errorMessage } from '../api.ts';
import { Icon } from '../icons.tsx';
import { DropArea } from '../parts/drop-area.tsx';
import { toast } from '../parts/toast.tsx';
import { timeZoneText } from '../time-zones.ts';
import { accountTimeZone } from '../welcome.ts';
import { type DecodedFile, decodeFile, problemWithFile, wordsToCheck } from './decode.ts';
import { styleColumns } from './import-style.ts';

const example = `Name,Destination,Short link
Table 1,https://example.com/menu?table=1,
Table 2,https://example.com/menu?table=2,
Terrace,https://example.com/terrace,terrace-26`;

/** The table as text, and the encoding of the file that it was converted from. */
export type SourceText = DecodedFile;

/** Where the table comes from: typed, pasted, dropped or chosen. */
export function ImportSource({ source, onSource }: { source: SourceText; onSource(source: SourceText): void }) {
  const readFile = async (file: File) => {
    try {
      const bytes = new Uint8Array(await file.arrayBuffer());
      const problem = problemWithFile(bytes, 1);
      if (problem === undefined) onSource(decodeFile(bytes));
      else toast(problem, 'failed');
    } catch (error) {
      toast(errorMessage(error), 'failed');
    }
  };
  return (
    <DropArea
      accept=".csv,.tsv,.txt,text/csv"
      onFile={readFile}
      above={
        <>
          <label for="csv">Paste rows from a spreadsheet, or drop a CSV file here</label>
          <textarea
            id="csv"
            rows={6}
            value={source.text}
            placeholder={example}
            spellcheck={false}
            onInput={(event) => onSource({ text: event.currentTarget.value, converted: undefined })}
          />
        </>
      }
      beside={
        <>
          {source.text === '' && (
            <button type="button" class="button" onClick={() => onSource({ text: example, converted: undefined })}>
              Use example
            </button>
          )}
          <span class="hint">
            Required columns: Name and Destination. Optional: Short link, Tags (separated by “;”), Starts and Ends (such
            as 2026-12-01 09:00, in {timeZoneText(accountTimeZone())}), Scan limit, Fallback, Note, and for the style{' '}
            {styleColumns.join(', ')}.
          </span>
        </>
      }
      below={<Converted {...source} />}
    />
  );
}

/** Says that a file was not UTF-8, with words by which the user can see whether it was read right. */
export function Converted({ text, converted }: SourceText) {
  if (converted === undefined) return null;
  const words = wordsToCheck(text);
  return (
    <p class="row nowrap verdict bad" role="status">
      <Icon name="warning" />
      <span>
        The file is not UTF-8. It was converted from {converted}.
        {words.length > 0 && ` Check that these words are spelled right: ${words.join(', ')}.`}
      </span>
    </p>
  );
}

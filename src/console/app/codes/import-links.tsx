import { useId, useState } from 'preact/hooks';
import { type SourceName, sourceNames } from '../../../imports/source-names.ts';
import { errorMessage } from '../api.ts';
import { number, plural } from '../format.ts';
import { Icon } from '../icons.tsx';
import { DropArea } from '../parts/drop-area.tsx';
import { Empty } from '../parts/states.tsx';
import { toast } from '../parts/toast.tsx';
import { currentMode, pageUrl } from '../router.ts';
import { DomainSelect, useDomains } from './domain-select.tsx';
import { ImportOutcomes, totalsText } from './import-outcomes.tsx';
import { type ImportRun, type ImportSettings, useImportRun } from './import-run.ts';
import { Converted } from './import-source.tsx';
import { type LinksFile, readLinksFile, sourceLabels } from './links-file.ts';

/** Import of the links of another service, from its export: checked first, then imported. */
export function LinksImport() {
  const [file, setFile] = useState<LinksFile>();
  const [settings, setSettings] = useState<ImportSettings>({ source: 'csv', domain: '', isPartial: false });
  const { run, isRunning, start, reset } = useImportRun();
  if (currentMode() === 'test')
    return (
      <Empty title="Not available in test mode">
        <p>
          Links keep their short codes, which test codes would take from your live ones for good. Switch to live mode: a
          file is checked there first, which creates nothing.
        </p>
      </Empty>
    );
  const choose = async (chosen: File) => {
    try {
      const next = await readLinksFile(chosen);
      reset();
      setFile(next);
      setSettings({ ...settings, source: next.recognized ?? 'csv' });
    } catch (error) {
      toast(errorMessage(error), 'failed');
    }
  };
  return (
    <>
      <DropArea
        accept=".csv,.tsv,.txt,.json,text/csv,application/json"
        onFile={choose}
        above={<strong>Drop the export of the other service here</strong>}
        beside={
          <span class="hint">
            CSV or JSON of up to 4 MB and 10,000 links. Every link keeps its short code. Nothing is created before you
            have seen what would come.
          </span>
        }
        below={file === undefined ? undefined : <Converted {...file} />}
      />
      {file !== undefined && (
        <Settings
          file={file}
          settings={settings}
          isDisabled={isRunning}
          onSettings={(changes) => {
            reset();
            setSettings({ ...settings, ...changes });
          }}
        />
      )}
      {file !== undefined && (
        <RunBar file={file} run={run} isRunning={isRunning} onStart={(isDryRun) => start(file, settings, isDryRun)} />
      )}
      {run !== undefined && <ImportOutcomes run={run} />}
    </>
  );
}

interface SettingsProps {
  file: LinksFile;
  settings: ImportSettings;
  isDisabled: boolean;
  onSettings(changes: Partial<ImportSettings>): void;
}

function Settings({ file, settings: { source, domain, isPartial }, isDisabled, onSettings }: SettingsProps) {
  const id = useId();
  const domains = useDomains();
  return (
    <fieldset class="card stack import-settings" disabled={isDisabled}>
      <legend class="hidden">How to import {file.name}</legend>
      <div class="stack gap-xs field">
        <label for={`${id}-source`}>Service</label>
        <select
          id={`${id}-source`}
          value={source}
          onChange={(event) => onSettings({ source: event.currentTarget.value as SourceName })}
        >
          {sourceNames.map((name) => (
            <option key={name} value={name}>
              {sourceLabels[name]}
            </option>
          ))}
        </select>
        <p class="hint">
          {file.recognized === undefined
            ? `“${file.name}” could be of any service: choose the one it is from.`
            : `“${file.name}” looks like an export of ${sourceLabels[file.recognized]}.`}{' '}
          A link of one service is imported only once.
        </p>
      </div>
      {domains.length > 0 && (
        <div class="stack gap-xs field">
          <label for={`${id}-domain`}>Domain</label>
          <DomainSelect
            id={`${id}-domain`}
            none="The domain of each link, if it is yours"
            domains={domains}
            value={domain}
            onValue={(name) => onSettings({ domain: name })}
          />
        </div>
      )}
      <label class="row nowrap check">
        <input
          type="checkbox"
          checked={isPartial}
          onChange={(event) => onSettings({ isPartial: event.currentTarget.checked })}
        />
        <span>Import links also without parts that Scanlog has no equivalent for, such as A/B tests</span>
      </label>
    </fieldset>
  );
}

interface RunBarProps {
  file: LinksFile;
  run: ImportRun | undefined;
  isRunning: boolean;
  onStart(isDryRun: boolean): void;
}

/** Progress and result, with the button for the next step. */
function RunBar({ file, run, isRunning, onStart }: RunBarProps) {
  const isDone = run?.isDryRun === false && run.totals !== undefined;
  const canImport = run?.isDryRun === true && (run.totals?.imported ?? 0) > 0;
  return (
    <div class="card row import-bar" role="status">
      {run === undefined && <strong>{file.count === undefined ? file.name : plural(file.count, 'link')}</strong>}
      {run !== undefined && isRunning && <Progress run={run} count={file.count} />}
      {run?.totals !== undefined && <strong>{totalsText(run)}</strong>}
      {run?.error !== undefined && (
        <span class="bad">
          <Icon name="warning" /> {run.error}{' '}
          {!run.isDryRun && run.outcomes.length > 0 && 'What was imported stays: start again to continue.'}
        </span>
      )}
      {isDone ? (
        <a class="button primary" href={pageUrl('/')}>
          View codes
        </a>
      ) : canImport || (run?.isDryRun === false && !isRunning) ? (
        <button type="button" class="button primary" onClick={() => onStart(false)}>
          {run.totals === undefined ? 'Continue' : `Import ${plural(run.totals.imported, 'link')}`}
        </button>
      ) : (
        <button
          type="button"
          class="button primary"
          disabled={isRunning || run?.totals !== undefined}
          onClick={() => onStart(true)}
        >
          {!isRunning ? 'Check' : run?.isDryRun === false ? 'Importing…' : 'Checking…'}
        </button>
      )}
    </div>
  );
}

function Progress({ run: { isDryRun, outcomes }, count }: { run: ImportRun; count: number | undefined }) {
  const of = count === undefined ? '' : ` of ${number(count)}`;
  return (
    <>
      <span>
        {isDryRun ? 'Checking' : 'Importing'}… {number(outcomes.length)}
        {of} links
      </span>
      {count !== undefined && <progress aria-label="Progress of the import" max={count} value={outcomes.length} />}
    </>
  );
}

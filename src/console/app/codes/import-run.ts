import { useEffect, useRef, useState } from 'preact/hooks';
import type { SourceName } from '../../../imports/source-names.ts';
import { api, errorMessage } from '../api.ts';
import type { LinksFile } from './links-file.ts';

/** What became of a link, or in a check what would. */
export interface LinkOutcome {
  link: string;
  destination_url: string;
  outcome: 'imported' | 'unchanged' | 'refused';
  qr_id: string | null;
  short_url: string | null;
  reasons: string[];
}

export interface ImportTotals {
  imported: number;
  unchanged: number;
  refused: number;
  incomplete: number;
  unread_columns: string[];
}

/** A check or an import, under way or ended. */
export interface ImportRun {
  isDryRun: boolean;
  outcomes: LinkOutcome[];
  /** Undefined until its end. */
  totals: ImportTotals | undefined;
  error: string | undefined;
}

export interface ImportSettings {
  source: SourceName;
  /** Empty for the domain of each link. */
  domain: string;
  isPartial: boolean;
}

/** Checks or imports a file, and shows what became of its links while they arrive. Leaving the page ends it. */
export function useImportRun() {
  const [run, setRun] = useState<ImportRun>();
  const abort = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => abort.current?.abort(), []);

  async function start({ content }: LinksFile, settings: ImportSettings, isDryRun: boolean): Promise<void> {
    const own = new AbortController();
    abort.current = own;
    const { signal } = own;
    let now: ImportRun = { isDryRun, outcomes: [], totals: undefined, error: undefined };
    const show = (changes: Partial<ImportRun>) => {
      now = { ...now, ...changes };
      if (!signal.aborted) setRun(now);
    };
    show({});
    const query = {
      source: settings.source,
      domain: settings.domain === '' ? undefined : settings.domain,
      partial: String(settings.isPartial),
      dry_run: String(isDryRun),
    };
    try {
      for await (const lines of api.lines<LinkOutcome | ImportTotals>('/qrcodes/import', query, content, signal)) {
        const totals = lines.find((line) => 'unread_columns' in line);
        const outcomes = lines.filter((line) => 'outcome' in line);
        show({ outcomes: [...now.outcomes, ...outcomes], totals });
      }
      if (now.totals === undefined) throw new Error('The connection was closed.');
    } catch (error) {
      show({ error: errorMessage(error) });
    }
  }

  return {
    run,
    isRunning: run !== undefined && run.totals === undefined && run.error === undefined,
    start,
    /** Ends what is under way, and forgets its result. */
    reset() {
      abort.current?.abort();
      setRun(undefined);
    },
  };
}

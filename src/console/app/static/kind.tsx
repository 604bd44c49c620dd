import { Segments } from '../parts/segments.tsx';
import { setQuery } from '../router.ts';

type Kind = 'link' | 'static';

const kinds = [
  ['link', 'Changeable link'],
  ['static', 'Wi-Fi, contact, text…'],
] as const;

/** What the new code is: a short link of the service, or something that phones read from the code itself. */
export const KindOfCode = ({ kind }: { kind: Kind }) => (
  <div class="stack gap-s kinds">
    <Segments
      label="Kind of code"
      options={kinds}
      value={kind}
      onValue={(next) => setQuery({ kind: next === 'static' ? next : undefined })}
    />
    {kind === 'static' && (
      <p class="hint">
        Phones read a static code without this service: it cannot be changed once it is printed, and its scans are not
        counted. Nothing that you enter here is stored.
      </p>
    )}
  </div>
);

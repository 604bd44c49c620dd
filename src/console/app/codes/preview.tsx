import { defaultSizePx } from '../../../qr/layout.ts';
import { drawSvg } from '../../../qr/svg.ts';
import { styleWarnings } from '../../../qr/warnings.ts';
import { displayUrl } from '../format.ts';
import { Icon } from '../icons.tsx';
import { ProofReasons, sentenceOf, useProof, verdictOf } from '../parts/proof.tsx';
import type { Proof } from '../types.ts';
import type { Style } from './style.ts';

/** The QR image, drawn by the same code that the service uses, and whether it scans. */
export function Preview({ url, style, shortCode }: { url: string; style: Style; shortCode: string }) {
  const svg = drawSvg(url, style, defaultSizePx);
  const proof = useProof(style, shortCode);
  return (
    <aside class="preview card" aria-label="Preview">
      <img
        src={`data:image/svg+xml,${encodeURIComponent(svg)}`}
        alt={`QR code for ${url}`}
        width={defaultSizePx}
        height={defaultSizePx}
      />
      <p class="link">{displayUrl(url)}</p>
      <div role="status">{proof === undefined ? <WhileProofing style={style} /> : <Proofed proof={proof} />}</div>
    </aside>
  );
}

const Proofed = ({ proof }: { proof: Proof }) => (
  <>
    {verdictOf(proof) === 'good' ? (
      <p class="verdict good">
        <Icon name="check" />
        {sentenceOf(proof)}
      </p>
    ) : (
      <p class="verdict bad">
        <Icon name="warning" />
        <strong>{sentenceOf(proof)}</strong>
      </p>
    )}
    <ProofReasons proof={proof} />
  </>
);

/** What the colors alone tell, until the service has read the picture. */
function WhileProofing({ style }: { style: Style }) {
  const warnings = styleWarnings(style);
  if (warnings.length === 0) return <p class="verdict">Checking whether it scans…</p>;
  return warnings.map(({ field, message }) => (
    <p key={field} class="verdict bad">
      <Icon name="warning" />
      {message}
    </p>
  ));
}

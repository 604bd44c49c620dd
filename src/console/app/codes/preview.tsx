import { defaultSizePx } from '../../../qr/layout.ts';
import type { RasterLogo } from '../../../qr/logo-art.ts';
import { LogoTooLarge } from '../../../qr/placed-logo.ts';
import { drawSvg } from '../../../qr/svg.ts';
import type { FrameFont } from '../../../qr/text.ts';
import { styleWarnings } from '../../../qr/warnings.ts';
import { Icon } from '../icons.tsx';
import { ProofReasons, type ProofSubject, sentenceOf, useProof, verdictOf } from '../parts/proof.tsx';
import type { Proof } from '../types.ts';
import { useFrameFont } from './frame-font.ts';
import { useLogoImage } from './logo-image.ts';
import type { Style } from './style.ts';

interface Props {
  /** The text of the symbol. */
  text: string;
  caption: string;
  alt: string;
  style: Style;
  subject: ProofSubject;
}

/** The QR image, drawn by the same code that the service uses, and whether it scans. */
export function Preview({ text, caption, alt, style, subject }: Props) {
  const font = useFrameFont(style.frame !== undefined && style.frame.type !== 'none');
  const logo = useLogoImage(style.logo?.id);
  const { svg, isLogoTooLarge } = drawFitting(text, style, { font, logo, declaresUtf8: 'content' in subject });
  const proof = useProof(style, text, subject);
  return (
    <aside class="card stack gap-m preview" aria-label="Preview">
      <img
        src={`data:image/svg+xml,${encodeURIComponent(svg)}`}
        alt={alt}
        width={defaultSizePx}
        height={defaultSizePx}
      />
      <p class="link">{caption}</p>
      <div class="stack gap-s" role="status">
        {isLogoTooLarge ? (
          <LogoDoesNotFit />
        ) : proof === undefined ? (
          <WhileProofing style={style} />
        ) : (
          <Proofed proof={proof} />
        )}
      </div>
    </aside>
  );
}

/** Without the logo if it is too large, which the service refuses. */
function drawFitting(
  text: string,
  style: Style,
  options: { font: FrameFont | undefined; logo: RasterLogo | undefined; declaresUtf8: boolean },
): { svg: string; isLogoTooLarge: boolean } {
  try {
    return { svg: drawSvg(text, style, defaultSizePx, options), isLogoTooLarge: false };
  } catch (error) {
    if (!(error instanceof LogoTooLarge)) throw error;
    return { svg: drawSvg(text, style, defaultSizePx, { ...options, logo: undefined }), isLogoTooLarge: true };
  }
}

const LogoDoesNotFit = () => (
  <>
    <p class="row nowrap verdict bad">
      <Icon name="warning" />
      <strong>The logo is too large</strong>
    </p>
    <p class="row nowrap verdict bad">
      <span>
        It hides more of the code than error correction can restore, so it is not shown here. Lower the logo size or the
        logo margin.
      </span>
    </p>
  </>
);

const Proofed = ({ proof }: { proof: Proof }) => (
  <>
    {verdictOf(proof) === 'good' ? (
      <p class="row nowrap verdict good">
        <Icon name="check" />
        {sentenceOf(proof)}
      </p>
    ) : (
      <p class="row nowrap verdict bad">
        <Icon name="warning" />
        <strong>{sentenceOf(proof)}</strong>
      </p>
    )}
    <ProofReasons proof={proof} />
  </>
);

/** What the colors alone tell, until the service has read the image. */
function WhileProofing({ style }: { style: Style }) {
  const warnings = styleWarnings(style);
  if (warnings.length === 0) return <p class="row nowrap verdict">Checking whether it scans…</p>;
  return warnings.map(({ field, message }) => (
    <p key={field} class="row nowrap verdict bad">
      <Icon name="warning" />
      {message}
    </p>
  ));
}

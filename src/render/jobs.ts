import type { ReadLogo } from '../logos/read-logo.ts';
import type { Proof, ProofRequest } from '../proof/proof.ts';
import type { QrImage } from '../qr/image.ts';
import type { DrawnPage, SheetPage } from '../qr/sheet/sheet-page.ts';
import type { ReportContent } from '../reports/report.ts';

/** The work of the renderer: everything that decodes, draws, proofs or lays out what tenants upload and design. */
export interface Jobs {
  image(image: QrImage): Promise<Uint8Array<ArrayBuffer>>;
  logo(file: Uint8Array): Promise<ReadLogo>;
  proof(request: ProofRequest): Promise<Proof>;
  page(page: SheetPage): Promise<DrawnPage>;
  report(report: ReportContent): Promise<Uint8Array<ArrayBuffer>>;
}

export type JobKind = keyof Jobs;
export type Job<Kind extends JobKind> = Parameters<Jobs[Kind]>[0];
export type JobResult<Kind extends JobKind> = Awaited<ReturnType<Jobs[Kind]>>;

/** What a render process receives. */
export type JobMessage = { [Kind in JobKind]: { kind: Kind; job: Job<Kind> } }[JobKind];

/** What it answers, and the CPU that the job took. `isRange`: the job itself is at fault. */
export type JobResponse = { cpuMs: number } & ({ result: unknown } | { error: { isRange: boolean; message: string } });

/** Whether a process does expensive jobs, which must not delay others. */
export type Pace = 'quick' | 'slow';

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Icon } from '../icons.tsx';

interface Props {
  /** The types that the file dialog offers, such as ".csv,text/csv". */
  accept: string;
  onFile(file: File): void;
  /** What stands above and beside the button. */
  above: ComponentChildren;
  beside: ComponentChildren;
  below?: ComponentChildren;
}

/** A card that a file can be dropped on, with a button to choose one. */
export function DropArea({ accept, onFile, above, beside, below }: Props) {
  const [isDragOver, setIsDragOver] = useState(false);
  const take = (file: File | undefined) => {
    if (file !== undefined) onFile(file);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: without a pointer, the user can choose a file
    <div
      class={`card stack gap-m drop ${isDragOver ? 'over' : ''}`}
      onDragOver={(event) => {
        event.preventDefault();
        setIsDragOver(true);
      }}
      onDragLeave={() => setIsDragOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setIsDragOver(false);
        take(event.dataTransfer?.files[0]);
      }}
    >
      {above}
      <div class="row actions">
        <label class="button">
          <Icon name="upload" />
          Choose file
          <input
            class="hidden"
            type="file"
            accept={accept}
            onChange={(event) => {
              take(event.currentTarget.files?.[0]);
              // Otherwise the same file, corrected meanwhile, would not be a change.
              event.currentTarget.value = '';
            }}
          />
        </label>
        {beside}
      </div>
      {below}
    </div>
  );
}

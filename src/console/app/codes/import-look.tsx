import { useState } from 'preact/hooks';
import { displayUrl } from '../format.ts';
import { More } from '../parts/more.tsx';
import { bootstrap } from '../welcome.ts';
import { Preview } from './preview.tsx';
import { FrameEditor, SymbolEditor } from './print-editor.tsx';
import { suggestShortCode } from './short-code.ts';
import { type Style, withField } from './style.ts';
import { StyleDialog } from './style-dialog.tsx';

/** The style that all rows of an import get: the style of a code, and what matters in print. Columns of the table win. */
export function ImportLook({ style, onStyle }: { style: Style; onStyle(style: Style): void }) {
  const [isChoosing, setIsChoosing] = useState(false);
  const [from, setFrom] = useState<string>();
  const [sample] = useState(suggestShortCode);
  return (
    <More title="Style and print" isUsed={false} hasError={false}>
      <div class="grid columns-l import-look">
        <div class="stack">
          <div class="stack gap-xs">
            <span class="row actions">
              <button type="button" class="button" aria-haspopup="dialog" onClick={() => setIsChoosing(true)}>
                Use the style of a code
              </button>
              {Object.keys(style).length > 0 && (
                <button
                  type="button"
                  class="button"
                  onClick={() => {
                    onStyle({});
                    setFrom(undefined);
                  }}
                >
                  Reset
                </button>
              )}
            </span>
            <p class="hint">
              {from === undefined
                ? 'Every row gets this style. A style column of the table wins over it.'
                : `Every row gets the style of “${from}”, as it is changed here. A style column of the table wins over it.`}
            </p>
          </div>
          <FrameEditor
            frame={style.frame}
            fallbackColor={style.dotsColor ?? '#000000'}
            onFrame={(frame) => onStyle(withField(style, 'frame', frame))}
          />
          <SymbolEditor style={style} onStyle={onStyle} />
        </div>
        {Object.keys(style).length > 0 && (
          <Preview
            text={`${bootstrap.short_base_url}/${sample}`}
            caption={displayUrl(`${bootstrap.short_base_url}/${sample}`)}
            alt="QR code with this style"
            style={style}
            subject={{ short_code: sample }}
          />
        )}
      </div>
      {isChoosing && (
        <StyleDialog
          onClose={() => setIsChoosing(false)}
          onChoose={({ name, style: chosen }) => {
            onStyle(chosen ?? {});
            setFrom(name);
            setIsChoosing(false);
          }}
        />
      )}
    </More>
  );
}

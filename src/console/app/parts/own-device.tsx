import { useState } from 'preact/hooks';
import { bootstrap } from '../welcome.ts';

export interface OwnDeviceProps {
  isOwn: boolean;
  onChange(isOwn: boolean): void;
}

/** Begins with what the user chose at the last sign-in. */
export function useOwnDevice(): OwnDeviceProps {
  const [isOwn, onChange] = useState(bootstrap.is_own_device);
  return { isOwn, onChange };
}

/** Asks whether the session may last as long as on a device of one's own. */
export const OwnDevice = ({ isOwn, onChange }: OwnDeviceProps) => (
  <label class="row nowrap check">
    <input type="checkbox" checked={isOwn} onChange={(event) => onChange(event.currentTarget.checked)} />
    <span>This is my device</span>
  </label>
);

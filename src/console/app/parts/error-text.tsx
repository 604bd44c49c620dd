/** The error of a group of fields, announced when it appears. */
export const ErrorText = ({ id, children }: { id?: string; children: string | undefined }) =>
  children === undefined ? null : (
    <p class="error" role="alert" id={id}>
      {children}
    </p>
  );

// A time in relative words, exact on hover. The caller words it, so that it can tick with the page.

export function RelativeTime(props: { at: number; words: string; exact: string }) {
  return (
    <time dateTime={new Date(props.at).toISOString()} title={props.exact}>
      {props.words}
    </time>
  );
}

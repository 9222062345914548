// The dialogs, loaded when the first one opens.

// By its parts: the ready-made object is one with the plain dialog's, with the parts of whichever came last.
import * as AlertDialog from "@kobalte/core/alert-dialog";
import { useLocation, useNavigate } from "@solidjs/router";
import { createSignal, Match, Show, Suspense, Switch } from "solid-js";
import { TITLE_MAX_CHARS } from "../../../shared/limits.ts";
import { lazyPart } from "../../components/lazy-part.tsx";
import type { Dialog } from "../../state/dialogs.ts";
import { createSessionSetup } from "../../state/session-setup.ts";
import { useWorkbench } from "../../state/workbench.ts";
import { PartMissing } from "../frame/part-missing.tsx";
import { SetupSteps } from "../home/setup-steps.tsx";
import { Modal, makeCloseFocus } from "./modal.tsx";

const OnItsWay = lazyPart(() => import("./on-its-way.tsx"), PartMissing);
const ShareSession = lazyPart(() => import("./share-session.tsx"), PartMissing);

type DialogOf<K extends Dialog["kind"]> = Extract<Dialog, { kind: K }>;

export default function OpenDialog(props: { dialog: Dialog; onClose: () => void }) {
  const of = <K extends Dialog["kind"]>(kind: K): DialogOf<K> | undefined =>
    props.dialog.kind === kind ? (props.dialog as DialogOf<K>) : undefined;
  return (
    <Switch>
      <Match when={of("new-session")}>
        <NewSession onClose={props.onClose} />
      </Match>
      <Match when={of("on-its-way")}>
        <Suspense>
          <OnItsWay onClose={props.onClose} />
        </Suspense>
      </Match>
      <Match when={of("rename-session")}>
        {(dialog) => <RenameSession dialog={dialog()} onClose={props.onClose} />}
      </Match>
      <Match when={of("share-session")}>
        {(dialog) => (
          <Suspense>
            <ShareSession sessionId={dialog().sessionId} onClose={props.onClose} />
          </Suspense>
        )}
      </Match>
      <Match when={of("rename-device")}>
        {(dialog) => <RenameDevice dialog={dialog()} onClose={props.onClose} />}
      </Match>
      <Match when={of("delete-session")}>
        {(dialog) => <DeleteSession dialog={dialog()} onClose={props.onClose} />}
      </Match>
      <Match when={of("revoke-device")}>
        {(dialog) => <RevokeDevice dialog={dialog()} onClose={props.onClose} />}
      </Match>
    </Switch>
  );
}

function NewSession(props: { onClose: () => void }) {
  const workbench = useWorkbench();
  const setup = createSessionSetup(workbench);
  const navigate = useNavigate();
  const start = () => {
    if (setup.missing() !== null) return;
    navigate(`/s/${setup.start()}`);
    props.onClose();
  };
  const isOnline = () => workbench.connection().kind === "live";
  return (
    <Modal title="New session" onClose={props.onClose} wide>
      <SetupSteps setup={setup} onSubmit={start} />
      <div class="row ends">
        <span class="quiet">
          {setup.missing() ?? (isOnline() ? "" : "Will be sent when the daemon is back")}
        </span>
        <button
          type="button"
          class="btn primary"
          disabled={setup.missing() !== null}
          onClick={start}
        >
          Start
        </button>
      </div>
    </Modal>
  );
}

function NameForm(props: {
  title: string;
  name: string;
  onName: (name: string) => void;
  onClose: () => void;
}) {
  const [name, setName] = createSignal(props.name);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const text = name().trim();
    if (text === "") return;
    if (text !== props.name) props.onName(text);
    props.onClose();
  };
  return (
    <Modal title={props.title} onClose={props.onClose}>
      <form onSubmit={submit}>
        <input
          type="text"
          class="field"
          dir="auto"
          aria-label="Name"
          maxLength={TITLE_MAX_CHARS}
          value={name()}
          onInput={(event) => setName(event.currentTarget.value)}
        />
        <div class="row ends">
          <button type="button" class="btn" onClick={props.onClose}>
            Cancel
          </button>
          <button type="submit" class="btn primary" disabled={name().trim() === ""}>
            Rename
          </button>
        </div>
      </form>
    </Modal>
  );
}

function RenameSession(props: { dialog: DialogOf<"rename-session">; onClose: () => void }) {
  const workbench = useWorkbench();
  return (
    <NameForm
      title="Rename session"
      name={props.dialog.title}
      onName={(title) =>
        workbench.run("session.rename", { sessionId: props.dialog.sessionId, title })
      }
      onClose={props.onClose}
    />
  );
}

function RenameDevice(props: { dialog: DialogOf<"rename-device">; onClose: () => void }) {
  const workbench = useWorkbench();
  return (
    <NameForm
      title="Rename device"
      name={props.dialog.name}
      onName={(name) => workbench.run("device.rename", { deviceId: props.dialog.deviceId, name })}
      onClose={props.onClose}
    />
  );
}

function Confirm(props: {
  title: string;
  text: string;
  action: string;
  onConfirm: () => void;
  onClose: () => void;
}) {
  const onCloseFocus = makeCloseFocus();
  return (
    <AlertDialog.Root open onOpenChange={(isOpen) => !isOpen && props.onClose()}>
      <AlertDialog.Portal>
        <AlertDialog.Overlay class="overlay" />
        <div class="dialog-place">
          <AlertDialog.Content class="dialog" onCloseAutoFocus={onCloseFocus}>
            <header>
              <AlertDialog.Title>{props.title}</AlertDialog.Title>
            </header>
            <AlertDialog.Description class="muted">{props.text}</AlertDialog.Description>
            <div class="row ends">
              <AlertDialog.CloseButton class="btn" aria-label="Cancel">
                Cancel
              </AlertDialog.CloseButton>
              <button
                type="button"
                class="btn danger"
                onClick={() => {
                  props.onConfirm();
                  props.onClose();
                }}
              >
                {props.action}
              </button>
            </div>
          </AlertDialog.Content>
        </div>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}

function DeleteSession(props: { dialog: DialogOf<"delete-session">; onClose: () => void }) {
  const workbench = useWorkbench();
  const navigate = useNavigate();
  const location = useLocation();
  return (
    <Confirm
      title="Delete this session?"
      text={`“${props.dialog.title}” and everything in it is removed from the daemon and from every device. Files in its folder stay as they are.`}
      action="Delete"
      onConfirm={() => {
        const { sessionId } = props.dialog;
        workbench.run("session.delete", { sessionId });
        if (location.pathname === `/s/${sessionId}`) navigate("/");
      }}
      onClose={props.onClose}
    />
  );
}

function RevokeDevice(props: { dialog: DialogOf<"revoke-device">; onClose: () => void }) {
  const workbench = useWorkbench();
  return (
    <Show when={props.dialog}>
      <Confirm
        title={props.dialog.isThisOne ? "Revoke this browser?" : "Revoke this device?"}
        text={
          props.dialog.isThisOne
            ? "This browser is disconnected at once. To come back you need a new link from the daemon's machine."
            : `“${props.dialog.name}” is disconnected at once. To come back it needs a new link from the daemon's machine.`
        }
        action="Revoke"
        onConfirm={() => workbench.run("device.revoke", { deviceId: props.dialog.deviceId })}
        onClose={props.onClose}
      />
    </Show>
  );
}

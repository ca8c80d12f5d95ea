"""Where SBP mutants are collected."""

from harness.mutation.mutant import Shelf
from reference_impl.sbp.codec import Codec
from reference_impl.sbp.peer import PeerMachine
from reference_impl.sbp.peer_io import Session
from targets.reference.sbp import CodecRole, PeerRole

shelf = Shelf(
    "sbp",
    {"codec": CodecRole, "peer": PeerRole},
    {
        "codec": {"codec": Codec},
        "peer": {"machine": PeerMachine, "session": Session, "codec": Codec},
    },
)

"""Section 2.3: the list of names."""

from __future__ import annotations

from harness.catalogue.cases import axis, clauses
from harness.judging.trial import Trial
from reference_impl.peerbus.frames import Peers
from suites.peerbus.broker.under_test import BrokerUnderTest, PrivateBroker


@clauses("PB-2.3-02", "PB-2.3-04")
async def test_reply_lists_the_live_names(own_broker: PrivateBroker, trial: Trial) -> None:
    """The reply names everybody who is connected, the asker included, each once."""
    peers = await own_broker.peers(4)
    reply = await peers[2].fence()
    wanted = sorted(peer.name for peer in peers)
    trial.expect(sorted(reply.names) == wanted, str(wanted), reply.names)


@clauses("PB-2.3-02")
async def test_one_reply_per_request(broker: BrokerUnderTest) -> None:
    """Three requests, three replies."""
    peer = await broker.peer()
    await peer.send(Peers(), Peers(), Peers())
    for _ in range(3):
        await peer.expect(Peers)
    await peer.expect_silence()


@clauses("PB-2.3-07")
@axis("names", {"strangers": '["zzz"]', "empty": "[]", "null": "null"})
async def test_names_in_a_request_mean_nothing(broker: BrokerUnderTest, trial: Trial, names: str) -> None:
    """Whatever a request lists, the reply lists who is there."""
    peer = await broker.peer()
    await peer.text(f'{{"protocol_version":"v1","type":"peers","names":{names}}}')
    reply = await peer.expect(Peers)
    trial.expect(peer.name in reply.names and "zzz" not in reply.names, "the live names", reply.names)


@clauses("PB-2.3-06")
@axis("how", ["close", "reset"])
async def test_name_leaves_the_list_with_its_connection(broker: BrokerUnderTest, trial: Trial, how: str) -> None:
    """A peer that hung up or vanished is not listed any more."""
    leaver, witness = await broker.peer(), await broker.peer()
    trial.expect(leaver.name in (await witness.fence()).names, "it to be listed while it is there", "it is not")
    if how == "close":
        await leaver.close()
    else:
        leaver.cut()
    await broker.until_gone(leaver.name, witness)


@clauses("PB-2.3-04", "PB-2-02", "PB-0-02")
async def test_reply_shape(broker: BrokerUnderTest, trial: Trial) -> None:
    """protocol_version, type, and names as an array of strings; checked on every reply, asserted here."""
    peer, ack = await broker.register()
    reply = await peer.fence()
    versions = {ack.protocol_version, reply.protocol_version}
    trial.expect(versions == {"v1"}, '"v1"', versions)
